import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.fluss.metadata.AggFunction;
import org.apache.fluss.metadata.AggFunctions;
import org.apache.fluss.metadata.Schema;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;

/** Tables that only the Java client can make, for special.sql to write. */
final class Special {
  private Special() {}

  static Map<TablePath, TableDescriptor> tables() {
    Map<TablePath, TableDescriptor> tables = new LinkedHashMap<>();
    tables.put(path("auto_increment"), autoIncrement());
    tables.put(path("aggregated"), aggregated());
    return tables;
  }

  private static TablePath path(String name) {
    return TablePath.of(Direction.JAVA_WRITES.database(), name);
  }

  private static TableDescriptor autoIncrement() {
    Schema schema =
        Schema.newBuilder()
            .column("k", DataTypes.STRING())
            .column("id", DataTypes.BIGINT())
            .column("note", DataTypes.STRING())
            .column("n", DataTypes.INT())
            .primaryKey("k")
            .enableAutoIncrement("id")
            .build();
    return TableDescriptor.builder().schema(schema).distributedBy(2, "k").build();
  }

  private static TableDescriptor aggregated() {
    Schema.Builder schema = Schema.newBuilder().column("k", DataTypes.INT());
    add(schema, "total", DataTypes.BIGINT(), AggFunctions.SUM());
    add(schema, "highest", DataTypes.INT(), AggFunctions.MAX());
    add(schema, "lowest", DataTypes.DOUBLE(), AggFunctions.MIN());
    add(schema, "list", DataTypes.STRING(), AggFunctions.LISTAGG());
    add(schema, "last", DataTypes.STRING(), AggFunctions.LAST_VALUE());
    add(schema, "last_known", DataTypes.STRING(), AggFunctions.LAST_VALUE_IGNORE_NULLS());
    add(schema, "first", DataTypes.STRING(), AggFunctions.FIRST_VALUE());
    add(schema, "anything", DataTypes.BOOLEAN(), AggFunctions.BOOL_OR());
    return TableDescriptor.builder()
        .schema(schema.primaryKey("k").build())
        .distributedBy(2, "k")
        .property("table.merge-engine", "aggregation")
        .property("table.delete.behavior", "allow")
        .build();
  }

  private static void add(Schema.Builder schema, String name, DataType type, AggFunction function) {
    schema.column(name, type, function);
  }
}
