import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.InternalArray;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.types.ArrayType;
import org.apache.fluss.types.DataType;

/** Values as text that PostgreSQL reads, and that two values share only if they are the same. */
final class Text {
  private Text() {}

  static String of(Type type, Object value) {
    if (value == null) {
      return null;
    }
    if (type.postgres.equals("jsonb") && type.isNested()) {
      return NestedText.json(type.fluss, value);
    }
    if (type.isNested()) {
      return NestedText.array(((ArrayType) type.fluss).getElementType(), (InternalArray) value);
    }
    return type.postgres.equals("uuid") ? uuid(hex((byte[]) value)) : scalar(type.fluss, value);
  }

  static String scalar(DataType type, Object value) {
    switch (type.getTypeRoot()) {
      case DECIMAL:
        return ((Decimal) value).toBigDecimal().toPlainString();
      case BINARY:
      case BYTES:
        return "\\x" + hex((byte[]) value);
      case DATE:
        LocalDate date = LocalDate.ofEpochDay((Integer) value);
        return date(date) + era(date);
      case TIME_WITHOUT_TIME_ZONE:
        return LocalTime.ofNanoOfDay((Integer) value * 1_000_000L).toString();
      case TIMESTAMP_WITHOUT_TIME_ZONE:
        TimestampNtz ntz = (TimestampNtz) value;
        return timestamp(ntz.getMillisecond(), ntz.getNanoOfMillisecond(), "");
      case TIMESTAMP_WITH_LOCAL_TIME_ZONE:
        TimestampLtz ltz = (TimestampLtz) value;
        return timestamp(ltz.getEpochMillisecond(), ltz.getNanoOfMillisecond(), "+00");
      default:
        return value.toString();
    }
  }

  /** PostgreSQL has microseconds: what is finer is cut, never rounded. */
  static String timestamp(long milli, int nanoOfMilli, String zone) {
    LocalDateTime t =
        LocalDateTime.ofEpochSecond(Math.floorDiv(milli, 1000L), 0, ZoneOffset.UTC);
    long micro = Math.floorMod(milli, 1000L) * 1000 + nanoOfMilli / 1000;
    return String.format(
        "%s %02d:%02d:%02d.%06d%s%s",
        date(t.toLocalDate()), t.getHour(), t.getMinute(), t.getSecond(), micro, zone,
        era(t.toLocalDate()));
  }

  private static String date(LocalDate d) {
    int year = d.getYear() > 0 ? d.getYear() : 1 - d.getYear();
    return String.format("%04d-%02d-%02d", year, d.getMonthValue(), d.getDayOfMonth());
  }

  private static String era(LocalDate d) {
    return d.getYear() > 0 ? "" : " BC";
  }

  static String hex(byte[] bytes) {
    StringBuilder hex = new StringBuilder();
    for (byte b : bytes) {
      hex.append(String.format("%02x", b));
    }
    return hex.toString();
  }

  static byte[] unhex(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    }
    return bytes;
  }

  private static String uuid(String hex) {
    return new UUID(
            Long.parseUnsignedLong(hex.substring(0, 16), 16),
            Long.parseUnsignedLong(hex.substring(16), 16))
        .toString();
  }

  /** A line of COPY's text format. */
  static byte[] copyLine(Stream<String> fields) {
    Function<String, String> escape =
        s ->
            s == null
                ? "\\N"
                : s.replace("\\", "\\\\")
                    .replace("\t", "\\t")
                    .replace("\n", "\\n")
                    .replace("\r", "\\r");
    return (fields.map(escape).collect(Collectors.joining("\t")) + "\n")
        .getBytes(StandardCharsets.UTF_8);
  }
}
