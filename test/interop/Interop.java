import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.zip.CRC32C;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.writer.AppendWriter;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableChange;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericMap;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.types.DataTypes;

/**
 * The Java half of the interoperability test.
 *
 * <pre>
 * Interop BOOTSTRAP PATTERN write DIRECTORY GO_BATCH   fills tables, writes scripts for psql
 * Interop BOOTSTRAP PATTERN read                       reads what fluss_fdw wrote in between
 * Interop BOOTSTRAP PATTERN add DATABASE TABLE COLUMN  adds a column, and a row that has it
 * </pre>
 *
 * Only tables whose name matches the pattern take part. The property interop.run tells runs apart.
 */
public final class Interop {
  private static final TablePath GO_READINGS =
      TablePath.of(Direction.JAVA_WRITES.database(), "go_readings");
  private static final TablePath COLLIDING =
      TablePath.of(Direction.JAVA_WRITES.database(), "colliding");

  private Interop() {}

  public static void main(String[] args) throws Exception {
    Cells cells = new Cells();
    List<TestTable> tables = Layouts.all(Boolean.getBoolean("interop.full"));
    tables.removeIf(table -> !Pattern.compile(args[1]).matcher(table.name).find());
    try (Fluss fluss = new Fluss(args[0])) {
      if (args[2].equals("write")) {
        write(fluss, tables, cells, Path.of(args[3]), Path.of(args[4]));
      } else if (args[2].equals("add")) {
        addColumn(fluss, TablePath.of(args[3], args[4]), args[5]);
      } else {
        Cells.together(
            tables.stream()
                .map(table -> (Runnable) () -> new JavaReads(fluss, table, cells).check())
                .collect(Collectors.toList()));
      }
    }
    System.exit(cells.allPassed() ? 0 : 1);
  }

  private static void write(
      Fluss fluss, List<TestTable> tables, Cells cells, Path directory, Path goBatch)
      throws Exception {
    fluss.makeDatabases();
    for (Direction direction : Direction.values()) {
      Files.createDirectories(directory.resolve(direction.letter));
    }
    Map<TablePath, TableDescriptor> descriptors = new LinkedHashMap<>();
    Map<TablePath, Set<PartitionSpec>> partitions = new HashMap<>();
    for (TestTable table : tables) {
      TablePath path = TablePath.of(Direction.JAVA_WRITES.database(), table.name);
      descriptors.put(path, table.descriptor());
      partitions.put(path, Partitions.of(table, Direction.JAVA_WRITES));
    }
    descriptors.put(GO_READINGS, goReadings());
    descriptors.putAll(Special.tables());
    descriptors.put(COLLIDING, colliding());
    fluss.create(descriptors, partitions);

    Path a = directory.resolve(Direction.JAVA_WRITES.letter);
    Path b = directory.resolve(Direction.SQL_WRITES.letter);
    List<Runnable> tasks = new ArrayList<>();
    for (TestTable table : tables) {
      JavaWrites.copyFile(b, table, table.writes(Direction.SQL_WRITES), Map.of());
      SqlFile.write(b, table, Direction.SQL_WRITES);
      tasks.add(
          () ->
              cells.run(
                  "a " + table.name + " java writes",
                  () -> {
                    JavaWrites.write(fluss, table, a);
                    SqlFile.write(a, table, Direction.JAVA_WRITES);
                    return table.writes(Direction.JAVA_WRITES).size() + " rows";
                  }));
    }
    Cells.together(tasks);
    cells.run("go java writes", () -> likeGo(fluss, Files.readString(goBatch)));
    cells.run("colliding java writes", () -> collide(fluss));
    Files.createFile(directory.resolve("written"));
  }

  /**
   * A table as the Go client leaves it: its batches hold COMPACTED records although the table's
   * format is ARROW. Here twice, with a true Arrow batch in between, which holds sensor 11.
   */
  private static String likeGo(Fluss fluss, String vector) throws Exception {
    Matcher hex = Pattern.compile("\"batch_hex\": *\"([0-9a-f]+)\"").matcher(vector);
    if (!hex.find()) {
      throw new IllegalArgumentException("the vector has no batch_hex");
    }
    byte[] batch = Text.unhex(hex.group(1));
    fluss.appendRaw(GO_READINGS, batch);
    try (Table table = fluss.connection.getTable(GO_READINGS)) {
      AppendWriter writer = table.newAppend().createWriter();
      writer.append(GenericRow.of(11, TimestampNtz.fromMillis(1785843000000L), 31.0, 51.5));
      writer.flush();
    }
    fluss.appendRaw(GO_READINGS, nextOfWriter(batch));
    return "21 rows";
  }

  /** A map whose keys differ by a nanosecond, after one whose keys do not. */
  private static String collide(Fluss fluss) throws Exception {
    TimestampNtz first = TimestampNtz.fromMillis(1785843000000L, 1000);
    try (Table table = fluss.connection.getTable(COLLIDING)) {
      AppendWriter writer = table.newAppend().createWriter();
      writer.append(
          GenericRow.of(1, GenericMap.of(first, 1, TimestampNtz.fromMillis(1785843000000L, 2000), 2)));
      writer.append(
          GenericRow.of(2, GenericMap.of(first, 1, TimestampNtz.fromMillis(1785843000000L, 1001), 2)));
      writer.flush();
    }
    return "2 rows";
  }

  private static TableDescriptor colliding() {
    Schema schema =
        Schema.newBuilder()
            .column("id", DataTypes.INT())
            .column("m", DataTypes.MAP(DataTypes.TIMESTAMP(9), DataTypes.INT()))
            .build();
    return TableDescriptor.builder().schema(schema).distributedBy(1).build();
  }

  /** The batch again as its writer's next one: its sequence number and its checksum change. */
  private static byte[] nextOfWriter(byte[] batch) {
    ByteBuffer next = ByteBuffer.wrap(batch.clone()).order(ByteOrder.LITTLE_ENDIAN);
    int crcAt = 21;
    int checkedFrom = 25;
    int sequenceAt = 40;
    next.putInt(sequenceAt, next.getInt(sequenceAt) + 1);
    CRC32C crc = new CRC32C();
    crc.update(next.array(), checkedFrom, batch.length - checkedFrom);
    next.putInt(crcAt, (int) crc.getValue());
    return next.array();
  }

  /** Row (1, 9.25, 'java', 5.25, 5.25, ...), in a table that begins with these types. */
  private static void addColumn(Fluss fluss, TablePath path, String column) throws Exception {
    TableChange change =
        TableChange.addColumn(
            column, DataTypes.DECIMAL(10, 2), null, TableChange.ColumnPosition.last());
    fluss.admin.alterTable(path, List.of(change), false).get();
    try (Table table = fluss.connection.getTable(path)) {
      GenericRow row = new GenericRow(table.getTableInfo().getRowType().getFieldCount());
      row.setField(0, 1);
      row.setField(1, Decimal.fromUnscaledLong(925, 10, 2));
      row.setField(2, BinaryString.fromString("java"));
      for (int i = 3; i < row.getFieldCount(); i++) {
        row.setField(i, Decimal.fromUnscaledLong(525, 10, 2));
      }
      if (table.getTableInfo().hasPrimaryKey()) {
        table.newUpsert().createWriter().upsert(row).get();
      } else {
        table.newAppend().createWriter().append(row).get();
      }
    }
  }

  private static TableDescriptor goReadings() {
    Schema schema =
        Schema.newBuilder()
            .column("sensor_id", DataTypes.INT().copy(false))
            .column("measured_at", DataTypes.TIMESTAMP(3).copy(false))
            .column("temperature_c", DataTypes.DOUBLE().copy(false))
            .column("humidity_pct", DataTypes.DOUBLE().copy(false))
            .build();
    return TableDescriptor.builder().schema(schema).distributedBy(1, "sensor_id").build();
  }
}
