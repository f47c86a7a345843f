import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.fluss.bucketing.BucketingFunction;
import org.apache.fluss.metadata.AggFunction;
import org.apache.fluss.metadata.AggFunctions;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TableInfo;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.row.InternalArray;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.row.encode.KeyEncoder;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;

/**
 * Whole tables through the Java client. Takes a command a line, answers with a line:
 *
 * <pre>
 * log DATABASE TABLE             reads all records; of a primary key table, replays its changelog
 * state DATABASE TABLE           reads a primary key table's rows, as the servers have them
 * make KIND DATABASE TABLE N     makes a table of N buckets that SQL cannot make
 * </pre>
 *
 * The answer to log and state is "ROWS SUM MISPLACED". The sum over the rows, in any order, is of
 * the first 40 bits of the MD5 of each row's text, which kinds.pl makes of SQL's values as {@link
 * #append} does. Misplaced are rows in another bucket than the client would put them into.
 */
public final class Whole {
  private static final int LIMIT = 100_000_000;

  private final Fluss fluss;
  private final TablePath path;
  private final TableInfo info;
  private final List<DataType> types;
  private final MessageDigest md5 = MessageDigest.getInstance("MD5");
  private final StringBuilder text = new StringBuilder();
  private KeyEncoder encoder;
  private final BucketingFunction function = BucketingFunction.of(null);
  private long rows;
  private long sum;
  private long misplaced;

  private Whole(Fluss fluss, TablePath path) throws Exception {
    this.fluss = fluss;
    this.path = path;
    info = fluss.admin.getTableInfo(path).get();
    types = info.getRowType().getChildren();
    if (!info.getBucketKeys().isEmpty()) {
      encoder = KeyEncoder.ofBucketKeyEncoder(info.getRowType(), info.getBucketKeys(), null);
    }
  }

  public static void main(String[] args) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    try (Fluss fluss = new Fluss(args[0])) {
      for (String line; (line = in.readLine()) != null; ) {
        String answer;
        try {
          answer = answer(fluss, line.split(" "));
        } catch (Exception e) {
          e.printStackTrace();
          answer = "error: " + String.valueOf(e).replace('\n', ' ');
        }
        System.out.println(answer);
      }
    }
  }

  private static String answer(Fluss fluss, String[] words) throws Exception {
    switch (words[0]) {
      case "log":
        return new Whole(fluss, TablePath.of(words[1], words[2])).log();
      case "state":
        return new Whole(fluss, TablePath.of(words[1], words[2])).state();
      case "make":
        TablePath path = TablePath.of(words[2], words[3]);
        TableDescriptor.Builder table = TableDescriptor.builder();
        if (words[1].equals("aggregation")) {
          table.schema(aggregation()).property("table.merge-engine", "aggregation");
        } else {
          table.schema(autoIncrement());
        }
        table.distributedBy(Integer.parseInt(words[4]), "id");
        fluss.create(Map.of(path, table.build()), Map.of(path, Set.of()));
        return "made";
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private String log() throws Exception {
    fluss.readLog(
        path,
        null,
        (bucket, partition, record, row) -> {
          switch (record.getChangeType()) {
            case UPDATE_BEFORE:
            case DELETE:
              add(bucket, row, -1);
              break;
            default:
              add(bucket, row, 1);
          }
        });
    return result();
  }

  private String state() throws Exception {
    fluss.readState(path, LIMIT, (bucket, row) -> add(bucket, row, 1));
    return result();
  }

  private String result() {
    return rows + " " + sum + " " + misplaced;
  }

  private void add(TableBucket bucket, Object[] row, int sign) {
    text.setLength(0);
    for (int i = 0; i < row.length; i++) {
      append(i == 0 ? "" : "|", types.get(i), row[i]);
    }
    byte[] digest = md5.digest(text.toString().getBytes(StandardCharsets.UTF_8));
    rows += sign;
    sum += sign * (ByteBuffer.wrap(digest).getLong() >>> 24);
    if (encoder != null
        && function.bucketing(encoder.encodeKey(GenericRow.of(row)), info.getNumBuckets())
            != bucket.getBucket()) {
      misplaced++;
    }
  }

  private void append(String separator, DataType type, Object value) {
    text.append(separator);
    if (value == null) {
      text.append('~');
      return;
    }
    switch (type.getTypeRoot()) {
      case FLOAT:
        text.append(Float.floatToIntBits((Float) value));
        break;
      case DOUBLE:
        text.append(Double.doubleToLongBits((Double) value));
        break;
      case DECIMAL:
        text.append(((Decimal) value).toBigDecimal().toPlainString());
        break;
      case BYTES:
        for (byte b : (byte[]) value) {
          text.append(Character.forDigit(b >> 4 & 15, 16)).append(Character.forDigit(b & 15, 16));
        }
        break;
      case TIMESTAMP_WITHOUT_TIME_ZONE:
        TimestampNtz ntz = (TimestampNtz) value;
        text.append(ntz.getMillisecond() * 1000 + ntz.getNanoOfMillisecond() / 1000);
        break;
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
        TimestampLtz ltz = (TimestampLtz) value;
        text.append(ltz.getEpochMillisecond() * 1000 + ltz.getNanoOfMillisecond() / 1000);
        break;
      case ARRAY:
        text.append('{');
        InternalArray array = (InternalArray) value;
        for (int i = 0; i < array.size(); i++) {
          text.append(i == 0 ? "" : ",");
          text.append(array.isNullAt(i) ? "NULL" : String.valueOf(array.getInt(i)));
        }
        text.append('}');
        break;
      default:
        text.append(value);
    }
  }

  // ---- tables with the columns of kinds.pl

  private static Schema aggregation() {
    Schema.Builder schema = Schema.newBuilder().column("id", DataTypes.INT());
    add(schema, "grp", DataTypes.STRING(), AggFunctions.LAST_VALUE());
    add(schema, "big", DataTypes.BIGINT(), AggFunctions.SUM());
    add(schema, "small", DataTypes.SMALLINT(), AggFunctions.MAX());
    add(schema, "v", DataTypes.DOUBLE(), AggFunctions.MIN());
    add(schema, "r", DataTypes.FLOAT(), AggFunctions.LAST_VALUE_IGNORE_NULLS());
    add(schema, "dec", DataTypes.DECIMAL(20, 4), AggFunctions.SUM());
    add(schema, "flag", DataTypes.BOOLEAN(), AggFunctions.BOOL_OR());
    add(schema, "day", DataTypes.DATE(), AggFunctions.MIN());
    add(schema, "at", DataTypes.TIMESTAMP(6), AggFunctions.FIRST_VALUE());
    add(schema, "seen", DataTypes.TIMESTAMP_LTZ(3), AggFunctions.MAX());
    add(schema, "txt", DataTypes.STRING(), AggFunctions.LAST_VALUE());
    add(schema, "bin", DataTypes.BYTES(), AggFunctions.LAST_VALUE_IGNORE_NULLS());
    add(schema, "tags", DataTypes.ARRAY(DataTypes.INT()), AggFunctions.LAST_VALUE());
    return schema.primaryKey("id").build();
  }

  private static void add(Schema.Builder schema, String name, DataType type, AggFunction function) {
    schema.column(name, type, function);
  }

  private static Schema autoIncrement() {
    return Schema.newBuilder()
        .column("id", DataTypes.INT())
        .column("grp", DataTypes.STRING())
        .column("big", DataTypes.BIGINT())
        .column("txt", DataTypes.STRING())
        .column("seq", DataTypes.BIGINT())
        .primaryKey("id")
        .enableAutoIncrement("seq")
        .build();
  }
}
