import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.GenericArray;
import org.apache.fluss.row.GenericMap;
import org.apache.fluss.row.GenericRow;
import org.apache.fluss.types.DataField;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;

/** Arrays, maps and rows, of every scalar type and of one another. */
final class NestedTypes {
  private NestedTypes() {}

  /** An array of each scalar type, as an array of PostgreSQL. */
  static final List<Type> ARRAYS = new ArrayList<>();

  /** What is jsonb: arrays of arrays, maps by every scalar type, rows. */
  static final List<Type> OBJECTS = new ArrayList<>();

  static {
    Types.ALL.forEach(type -> ARRAYS.add(array(type)));
    for (Type type : Types.ALL) {
      // two keys that differ below the microsecond are the same in PostgreSQL
      if (!type.name.endsWith("_9")) {
        OBJECTS.add(map("map_by_" + type.name, jsonable(type)));
      }
    }
    Type everything = everything();
    OBJECTS.add(everything);
    OBJECTS.add(arrayOf("array_of_row", everything));
    OBJECTS.add(arrayOf("array_of_array", arrayOf("inner", Types.get("string"))));
    OBJECTS.add(arrayOf("array_of_map", map("inner", Types.get("string"))));
    OBJECTS.add(arrayOf("array_as_jsonb", Types.get("decimal_38_18")));
    OBJECTS.add(deep());
  }

  /** The floats whose shortest digits Java prints as PostgreSQL does. */
  private static Type jsonable(Type type) {
    if (type.name.equals("float")) {
      return copy(type, list(0f, 1f, -1.5f, 0.1f, Float.NaN, Float.POSITIVE_INFINITY));
    }
    if (type.name.equals("double")) {
      return copy(
          type, list(0d, 1d, -1.5d, 0.1d, 123456.75, Double.NaN, Double.NEGATIVE_INFINITY));
    }
    return type;
  }

  private static Type copy(Type type, List<Object> values) {
    return new Type(
        type.name,
        type.fluss,
        type.postgres,
        type.option,
        values,
        r -> values.get(r.nextInt(values.size())));
  }

  private static Type array(Type element) {
    List<Object> values = element.values(Direction.JAVA_WRITES);
    List<Object> safe = element.values(Direction.SQL_WRITES);
    return new Type(
        "array_of_" + element.name,
        DataTypes.ARRAY(element.fluss),
        element.postgres + "[]",
        element.option == null ? null : "ARRAY<" + element.option + ">",
        arrays(values, safe),
        r -> any(r, values, true));
  }

  private static List<Object> arrays(List<Object> values, List<Object> safe) {
    return list(
        new GenericArray(new Object[0]),
        new GenericArray(new Object[] {null}),
        new GenericArray(new Object[] {null, null, safe.get(0)}),
        new GenericArray(safe.toArray()),
        new GenericArray(values.toArray()));
  }

  private static GenericArray any(Random r, List<Object> values, boolean nulls) {
    Object[] items = new Object[r.nextInt(6)];
    for (int i = 0; i < items.length; i++) {
      items[i] = nulls && r.nextInt(5) == 0 ? null : values.get(r.nextInt(values.size()));
    }
    return new GenericArray(items);
  }

  private static Type arrayOf(String name, Type element) {
    List<Object> values = element.values(Direction.JAVA_WRITES);
    DataType type = DataTypes.ARRAY(element.fluss);
    return jsonb(
        name,
        type,
        arrays(values, element.values(Direction.SQL_WRITES)),
        r -> any(r, values, true));
  }

  private static Type map(String name, Type key) {
    List<Object> keys = key.values(Direction.SQL_WRITES);
    Function<Random, Object> random =
        r -> {
          Map<Object, Object> map = new LinkedHashMap<>();
          for (int n = r.nextInt(5); n > 0; n--) {
            Object k = keys.get(r.nextInt(keys.size()));
            if (map.keySet().stream().noneMatch(other -> same(key, other, k))) {
              map.put(k, r.nextInt(4) == 0 ? null : r.nextInt());
            }
          }
          return new GenericMap(map);
        };
    return jsonb(
        name,
        DataTypes.MAP(key.fluss, DataTypes.INT()),
        list(
            new GenericMap(Map.of()),
            GenericMap.of(keys.get(0), 1),
            GenericMap.of(keys.get(0), null)),
        random);
  }

  private static boolean same(Type type, Object a, Object b) {
    return Text.of(type, a).equals(Text.of(type, b));
  }

  /** A row with a field of each scalar type. */
  private static Type everything() {
    List<Type> types =
        Types.ALL.stream().map(NestedTypes::jsonable).collect(Collectors.toList());
    DataField[] fields =
        types.stream()
            .map(t -> DataTypes.FIELD(t.name, t.fluss))
            .toArray(DataField[]::new);
    List<Object> edges = new ArrayList<>();
    edges.add(new GenericRow(types.size()));
    for (int i = 0; i < 12; i++) {
      int row = i;
      edges.add(row(types, t -> t.value(row, Direction.SQL_WRITES)));
    }
    return jsonb(
        "row_of_all",
        DataTypes.ROW(fields),
        edges,
        r -> row(types, t -> t.value(r.nextInt(1000), Direction.SQL_WRITES)));
  }

  private static GenericRow row(List<Type> types, Function<Type, Object> value) {
    return GenericRow.of(types.stream().map(value).toArray());
  }

  /** Rows, maps and arrays in one another. */
  private static Type deep() {
    DataType inner =
        DataTypes.ROW(
            DataTypes.FIELD("Weird \"name", DataTypes.STRING()),
            DataTypes.FIELD("n\u00e4me", DataTypes.ARRAY(DataTypes.INT())));
    DataType type =
        DataTypes.ROW(
            DataTypes.FIELD("id", DataTypes.BIGINT().copy(false)),
            DataTypes.FIELD("m", DataTypes.MAP(DataTypes.STRING(), DataTypes.ARRAY(inner))),
            DataTypes.FIELD("r", inner),
            DataTypes.FIELD("t", DataTypes.STRING()));
    Function<Random, Object> random =
        r ->
            GenericRow.of(
                r.nextLong(),
                r.nextInt(3) == 0
                    ? null
                    : GenericMap.of(
                        BinaryString.fromString("k" + r.nextInt(10)),
                        new GenericArray(new Object[] {inner(r), null, inner(r)}),
                        BinaryString.fromString("longer than seven"),
                        null),
                r.nextInt(3) == 0 ? null : inner(r),
                r.nextBoolean() ? null : BinaryString.fromString("t\"\\\u65e5" + r.nextInt()));
    return jsonb("deep", type, list(GenericRow.of(1L, null, null, null)), random);
  }

  private static GenericRow inner(Random r) {
    return GenericRow.of(
        r.nextInt(3) == 0 ? null : BinaryString.fromString("w" + r.nextInt(100)),
        r.nextInt(3) == 0 ? null : any(r, list(1, -1, 70000), true));
  }

  private static Type jsonb(
      String name, DataType type, List<Object> edges, Function<Random, Object> random) {
    return new Type(name, type, "jsonb", type.asSummaryString(), edges, random);
  }

  private static List<Object> list(Object... values) {
    return new ArrayList<>(Arrays.asList(values));
  }
}
