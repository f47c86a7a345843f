import java.math.BigDecimal;
import java.util.List;
import java.util.ArrayList;
import java.util.stream.Collectors;
import org.apache.fluss.row.InternalArray;
import org.apache.fluss.row.InternalMap;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.types.ArrayType;
import org.apache.fluss.types.DataField;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.MapType;
import org.apache.fluss.types.RowType;

/** Arrays as PostgreSQL's text of them, and nested values as JSON. */
final class NestedText {
  private NestedText() {}

  /** {"a",NULL,"b"}: elements are all quoted, which PostgreSQL takes for every type. */
  static String array(DataType element, InternalArray array) {
    return elements(element, array).stream()
        .map(value -> value == null ? "NULL" : quote(Text.scalar(element, value)))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String quote(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static List<Object> elements(DataType type, InternalArray array) {
    InternalArray.ElementGetter getter = InternalArray.createElementGetter(type);
    List<Object> elements = new ArrayList<>();
    for (int i = 0; i < array.size(); i++) {
      elements.add(getter.getElementOrNull(array, i));
    }
    return elements;
  }

  /** As jsonb prints it, but for blanks and the order of keys: maps are sorted. */
  static String json(DataType type, Object value) {
    if (value == null) {
      return "null";
    }
    switch (type.getTypeRoot()) {
      case ARRAY:
        DataType element = ((ArrayType) type).getElementType();
        return elements(element, (InternalArray) value).stream()
            .map(item -> json(element, item))
            .collect(Collectors.joining(",", "[", "]"));
      case MAP:
        return map((MapType) type, (InternalMap) value);
      case ROW:
        return row((RowType) type, (InternalRow) value);
      case BOOLEAN:
      case TINYINT:
      case SMALLINT:
      case INTEGER:
      case BIGINT:
      case DECIMAL:
        return Text.scalar(type, value);
      case FLOAT:
      case DOUBLE:
        return number(((Number) value).doubleValue(), value.toString());
      default:
        return string(scalar(type, value));
    }
  }

  private static String number(double value, String text) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return string(text);
    }
    BigDecimal shortest = new BigDecimal(text).stripTrailingZeros();
    return shortest.toPlainString();
  }

  private static String map(MapType type, InternalMap map) {
    List<Object> keys = elements(type.getKeyType(), map.keyArray());
    List<Object> values = elements(type.getValueType(), map.valueArray());
    List<String> members = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      String key = json(type.getKeyType(), keys.get(i));
      members.add(
          (key.startsWith("\"") ? key : '"' + key + '"')
              + ':'
              + json(type.getValueType(), values.get(i)));
    }
    return members.stream().sorted().collect(Collectors.joining(",", "{", "}"));
  }

  private static String row(RowType type, InternalRow row) {
    List<String> members = new ArrayList<>();
    List<DataField> fields = type.getFields();
    for (int i = 0; i < fields.size(); i++) {
      DataType field = fields.get(i).getType();
      Object value = InternalRow.createFieldGetter(field, i).getFieldOrNull(row);
      members.add(string(fields.get(i).getName()) + ':' + json(field, value));
    }
    return String.join(",", members).transform(s -> '{' + s + '}');
  }

  /** Dates and times as in JSON: a T between them, and no zeros at the end. */
  private static String scalar(DataType type, Object value) {
    String text = Text.scalar(type, value);
    switch (type.getTypeRoot()) {
      case TIME_WITHOUT_TIME_ZONE:
        return trim((text.length() == 5 ? text + ":00" : text), "");
      case TIMESTAMP_WITHOUT_TIME_ZONE:
        return trim(text.replaceFirst(" ", "T"), "");
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
        return trim(text.replaceFirst(" ", "T").replace("+00", ""), "+00:00");
      default:
        return text;
    }
  }

  private static String trim(String text, String zone) {
    String era = text.endsWith(" BC") ? " BC" : "";
    String time = text.substring(0, text.length() - era.length());
    return (time.contains(".") ? time.replaceFirst("\\.?0*$", "") : time) + zone + era;
  }

  private static String string(String text) {
    StringBuilder json = new StringBuilder("\"");
    text.codePoints()
        .forEach(
            c -> {
              if (c == '"' || c == '\\') {
                json.append('\\').appendCodePoint(c);
              } else if (c < 32) {
                json.append(String.format("\\u%04x", c));
              } else {
                json.appendCodePoint(c);
              }
            });
    return json.append('"').toString();
  }
}
