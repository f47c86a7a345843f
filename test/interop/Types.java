import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.fluss.row.BinaryString;
import org.apache.fluss.row.Decimal;
import org.apache.fluss.row.TimestampLtz;
import org.apache.fluss.row.TimestampNtz;
import org.apache.fluss.types.DataType;
import org.apache.fluss.types.DataTypes;

/** The types that the tests cover, with their edges. */
final class Types {
  private Types() {}

  /** What a Fluss type becomes in PostgreSQL by default. */
  static final List<Type> ALL = new ArrayList<>();

  /** Other PostgreSQL types that are accepted. */
  static final List<Type> ALTERNATIVES = new ArrayList<>();

  /** Times at every precision. */
  static final List<Type> PRECISIONS = new ArrayList<>();

  static Type get(String name) {
    return ALL.stream().filter(t -> t.name.equals(name)).findFirst().orElseThrow();
  }

  private static final String[] TEXTS = {
    "",
    " ",
    "a",
    "plain",
    "sevench",
    "eight888",
    "tab\tnewline\nreturn\rback\\slash",
    "\\N",
    "NULL",
    "it's \"quoted\"",
    "h\u00e9llo",
    "\u65e5\u672c\u8a9e",
    "\ud83d\ude00",
    "\udbff\udfff",
    "e\u0301 combining",
    "\u0001\u001f\u007f",
    "trailing blank ",
  };

  static {
    add("boolean", DataTypes.BOOLEAN(), "boolean", null, list(true, false), Random::nextBoolean);
    add(
        "tinyint",
        DataTypes.TINYINT(),
        "smallint",
        "TINYINT",
        list((byte) 0, (byte) 1, (byte) -1, Byte.MIN_VALUE, Byte.MAX_VALUE),
        r -> (byte) r.nextInt());
    add(
        "smallint",
        DataTypes.SMALLINT(),
        "smallint",
        null,
        list((short) 0, (short) -1, (short) 200, Short.MIN_VALUE, Short.MAX_VALUE),
        r -> (short) r.nextInt());
    add(
        "int",
        DataTypes.INT(),
        "integer",
        null,
        // among them keys of 1 to 5 bytes whose last byte has its high bit set
        list(0, 1, -1, 127, 128, 255, 300, 16383, 16384, 2097151, 2097152, 1 << 28,
            Integer.MIN_VALUE, Integer.MAX_VALUE),
        Random::nextInt);
    add(
        "bigint",
        DataTypes.BIGINT(),
        "bigint",
        null,
        list(0L, 1L, -1L, 128L, 1L << 35, -(1L << 35), Long.MIN_VALUE, Long.MAX_VALUE),
        Random::nextLong);
    add(
        "float",
        DataTypes.FLOAT(),
        "real",
        null,
        list(0f, -0f, 1f, -1.5f, 0.1f, Float.MIN_VALUE, Float.MIN_NORMAL, Float.MAX_VALUE,
            -Float.MAX_VALUE, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY),
        r -> (float) r.nextGaussian());
    add(
        "double",
        DataTypes.DOUBLE(),
        "double precision",
        null,
        list(0d, -0d, 1d, -1.5d, 0.1d, Double.MIN_VALUE, Double.MIN_NORMAL, Double.MAX_VALUE,
            -Double.MAX_VALUE, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY),
        r -> r.nextGaussian() * 1e6);
    decimal(1, 0);
    decimal(10, 2);
    decimal(18, 0);
    decimal(18, 18);
    decimal(19, 2);
    decimal(38, 0);
    decimal(38, 18);
    decimal(38, 38);
    add("char", DataTypes.CHAR(20), "varchar(20)", "CHAR(20)", texts(20), r -> text(r, 20));
    List<Object> strings = texts(1000);
    strings.add(BinaryString.fromString("long \u65e5 ".repeat(3000)));
    add("string", DataTypes.STRING(), "text", null, strings, r -> text(r, 60));
    add(
        "binary",
        DataTypes.BINARY(4),
        "bytea",
        "BINARY(4)",
        list(new byte[4], bytes(255, 255, 255, 255), bytes(0, 128, 92, 10), bytes(1, 2, 3, 4)),
        r -> random(r, 4));
    byte[] every = new byte[256];
    for (int i = 0; i < every.length; i++) {
      every[i] = (byte) i;
    }
    add(
        "bytes",
        DataTypes.BYTES(),
        "bytea",
        null,
        list(new byte[0], new byte[1], bytes(255), bytes(128, 0), every, new byte[9000]),
        r -> random(r, r.nextInt(40)));
    int first = day(-4712, 1, 1);
    int last = day(5874897, 12, 31);
    add(
        "date",
        DataTypes.DATE(),
        "date",
        null,
        list(0, 1, -1, day(2026, 8, 4), day(2024, 2, 29), day(1, 1, 1), day(0, 12, 31),
            day(9999, 12, 31), first, last),
        r -> first + (int) (r.nextDouble() * ((long) last - first)));
    ALL.add(time(0));
    ALL.add(time(3));
    for (int precision : new int[] {0, 3, 6, 9}) {
      ALL.add(timestamp(precision, false));
      ALL.add(timestamp(precision, true));
    }

    for (int precision = 0; precision <= 9; precision++) {
      PRECISIONS.add(time(precision));
      PRECISIONS.add(timestamp(precision, false));
      PRECISIONS.add(timestamp(precision, true));
    }

    alternative("tinyint", "integer", "TINYINT");
    alternative("tinyint", "bigint", "TINYINT");
    alternative("smallint", "integer", "SMALLINT");
    alternative("smallint", "bigint", "SMALLINT");
    alternative("int", "bigint", "INT");
    alternative("bigint", "numeric", "BIGINT");
    alternative("string", "varchar", "STRING");
    alternative("char", "text", "CHAR(20)");
    ALTERNATIVES.add(
        new Type(
            "char_as_character",
            DataTypes.CHAR(8),
            "character(8)",
            "CHAR(8)",
            texts(8).stream()
                .filter(v -> !v.toString().endsWith(" "))
                .collect(Collectors.toList()),
            r -> BinaryString.fromString(Integer.toString(r.nextInt(1000000)))));
    List<Object> documents = new ArrayList<>();
    for (String s : new String[] {"1", "null", "{\"a\": [1, \"\u00e9\"]}", "\"\"", "[]"}) {
      documents.add(BinaryString.fromString(s));
    }
    for (String json : new String[] {"json", "jsonb"}) {
      ALTERNATIVES.add(
          new Type(
              "string_as_" + json,
              DataTypes.STRING(),
              json,
              "STRING",
              documents,
              r -> BinaryString.fromString("{\"k\": " + r.nextInt() + "}")));
    }
    ALTERNATIVES.add(
        new Type(
            "binary_as_uuid",
            DataTypes.BINARY(16),
            "uuid",
            "BINARY(16)",
            list(new byte[16], random(new Random(1), 16)),
            r -> random(r, 16)));
  }

  private static void add(
      String name,
      DataType fluss,
      String postgres,
      String option,
      List<Object> edges,
      Function<Random, Object> random) {
    ALL.add(new Type(name, fluss, postgres, option, edges, random));
  }

  private static void alternative(String name, String postgres, String option) {
    Type type = get(name);
    List<Object> values = type.values(Direction.JAVA_WRITES);
    ALTERNATIVES.add(
        new Type(
            name + "_as_" + postgres,
            type.fluss,
            postgres,
            option,
            values,
            r -> values.get(r.nextInt(values.size()))));
  }

  private static void decimal(int precision, int scale) {
    BigInteger max = BigInteger.TEN.pow(precision).subtract(BigInteger.ONE);
    List<Object> edges = new ArrayList<>();
    for (BigInteger unscaled :
        Arrays.asList(
            BigInteger.ZERO, BigInteger.ONE, BigInteger.ONE.negate(), max, max.negate())) {
      edges.add(decimal(unscaled, precision, scale));
    }
    add(
        "decimal_" + precision + "_" + scale,
        DataTypes.DECIMAL(precision, scale),
        "numeric(" + precision + "," + scale + ")",
        null,
        edges,
        r -> {
          BigInteger any = new BigInteger(r.nextInt(max.bitLength()) + 1, r).min(max);
          return decimal(r.nextBoolean() ? any : any.negate(), precision, scale);
        });
  }

  private static Decimal decimal(BigInteger unscaled, int precision, int scale) {
    return Decimal.fromBigDecimal(new BigDecimal(unscaled, scale), precision, scale);
  }

  /** Fluss keeps milliseconds, whatever the precision says. */
  private static Type time(int precision) {
    int digits = Math.min(precision, 3);
    int unit = (int) Math.pow(10, 3 - digits);
    return new Type(
        "time_" + precision,
        DataTypes.TIME(precision),
        "time(" + digits + ")",
        precision > 3 ? "TIME(" + precision + ")" : null,
        list(0, unit, 43200000, 86400000 - unit),
        r -> r.nextInt(86400000) / unit * unit);
  }

  /**
   * The edges are those that both PostgreSQL and Arrow can hold: Arrow counts from 1970 in 64 bits,
   * microseconds for a precision of 4 to 6 and nanoseconds above.
   */
  private static Type timestamp(int precision, boolean zoned) {
    LocalDateTime first = LocalDateTime.of(-4712, 1, 1, 0, 0);
    LocalDateTime last = LocalDateTime.of(294246, 12, 31, 23, 59, 59);
    if (precision > 6) {
      first = LocalDateTime.of(1678, 1, 1, 0, 0);
      last = LocalDateTime.of(2261, 12, 31, 23, 59, 59);
    }
    List<LocalDateTime> seconds = new ArrayList<>();
    Collections.addAll(
        seconds,
        LocalDateTime.of(1970, 1, 1, 0, 0),
        LocalDateTime.of(1969, 12, 31, 23, 59, 59),
        LocalDateTime.of(2026, 8, 4, 9, 15),
        LocalDateTime.of(2026, 3, 29, 2, 30), // in the gap of a daylight saving change
        first,
        last);
    if (precision <= 6) {
      Collections.addAll(
          seconds,
          LocalDateTime.of(1, 1, 1, 0, 0),
          LocalDateTime.of(0, 12, 31, 23, 59, 59),
          LocalDateTime.of(9999, 12, 31, 23, 59, 59));
    }
    List<LocalDateTime> points = new ArrayList<>(seconds);
    if (precision >= 3) {
      points.add(seconds.get(0).minusNanos(1_000_000));
      points.add(seconds.get(1).minusNanos(1_000_000));
      points.add(last.plusNanos(999_000_000));
    }
    if (precision >= 6) {
      points.add(seconds.get(0).minusNanos(1_000));
      points.add(seconds.get(1).minusNanos(999_999_000));
      points.add(seconds.get(2).plusNanos(123_456_000));
      points.add(last.plusNanos(999_999_000));
    }
    if (precision >= 9) {
      points.add(seconds.get(2).plusNanos(123_456_789));
    }
    long min = first.toEpochSecond(ZoneOffset.UTC);
    long max = last.toEpochSecond(ZoneOffset.UTC);
    int unit = (int) Math.pow(10, 9 - precision);
    return new Type(
        (zoned ? "ltz_" : "ntz_") + precision,
        zoned ? DataTypes.TIMESTAMP_LTZ(precision) : DataTypes.TIMESTAMP(precision),
        (zoned ? "timestamptz(" : "timestamp(") + Math.min(precision, 6) + ")",
        precision > 6 ? (zoned ? "TIMESTAMP_LTZ(" : "TIMESTAMP(") + precision + ")" : null,
        points.stream()
            .map(p -> p.withNano(p.getNano() / unit * unit))
            .map(p -> timestamp(p.toEpochSecond(ZoneOffset.UTC), p.getNano(), zoned))
            .collect(Collectors.toList()),
        r ->
            timestamp(
                min + (long) (r.nextDouble() * (max - min)),
                r.nextInt(1_000_000_000) / unit * unit,
                zoned));
  }

  private static Object timestamp(long second, int nano, boolean zoned) {
    long milli = second * 1000 + nano / 1_000_000;
    int rest = nano % 1_000_000;
    return zoned
        ? TimestampLtz.fromEpochMillis(milli, rest)
        : (Object) TimestampNtz.fromMillis(milli, rest);
  }

  private static int day(int year, int month, int day) {
    return (int) LocalDate.of(year, month, day).toEpochDay();
  }

  private static List<Object> list(Object... values) {
    return new ArrayList<>(Arrays.asList(values));
  }

  private static List<Object> texts(int longest) {
    List<Object> all = new ArrayList<>();
    for (String text : TEXTS) {
      if (text.codePointCount(0, text.length()) <= longest) {
        all.add(BinaryString.fromString(text));
      }
    }
    return all;
  }

  private static Object text(Random r, int longest) {
    StringBuilder text = new StringBuilder();
    for (int n = r.nextInt(longest + 1); n > 0; n--) {
      int c = r.nextInt(4) > 0 ? 32 + r.nextInt(95) : 0xa1 + r.nextInt(0x1f600 - 0xa1);
      text.appendCodePoint(c >= 0xd800 && c <= 0xdfff ? '?' : c);
    }
    return BinaryString.fromBytes(text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  private static byte[] random(Random r, int length) {
    byte[] bytes = new byte[length];
    r.nextBytes(bytes);
    return bytes;
  }
}
