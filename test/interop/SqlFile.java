import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The psql script of one table: its heap table and its foreign table, the writing, the cells. */
final class SqlFile {
  private static final String[][] POSITION = {
    {"bucket", "integer"}, {"log_offset", "bigint"}, {"commit_timestamp", "timestamptz"},
    {"partition", "text"}
  };

  private final TestTable table;
  private final Direction direction;
  private final String all;
  private final String foreign;

  private SqlFile(TestTable table, Direction direction) {
    this.table = table;
    this.direction = direction;
    this.all = direction.heap() + "." + table.name + "_all";
    this.foreign = direction.foreign() + "." + table.name;
  }

  static void write(Path directory, TestTable table, Direction direction) throws Exception {
    Files.writeString(
        directory.resolve(table.name + ".sql"), new SqlFile(table, direction).script());
  }

  private String script() {
    StringBuilder sql = new StringBuilder();
    boolean positions = direction == Direction.JAVA_WRITES && !table.isKeyed();
    String names = String.join(", ", table.names());
    statement(
        sql,
        "CREATE TABLE %s (_seq integer, _live boolean, %s%s)",
        all,
        definitions(false),
        positions ? position("") : "");
    sql.append(String.format("\\copy %s FROM '%s.copy'%n", all, table.name));
    statement(
        sql,
        "CREATE VIEW %s.%s AS SELECT %s%s FROM %s WHERE _live",
        direction.heap(),
        table.name,
        names,
        positions ? positionNames() : "",
        all);
    statement(
        sql,
        "CREATE FOREIGN TABLE %s (%s%s) SERVER fluss OPTIONS (database_name '%s')",
        foreign,
        definitions(direction == Direction.SQL_WRITES),
        positions ? position(" OPTIONS (metadata '%s')") : "",
        direction.database());
    if (table.isKeyed()) {
      changelog(sql);
    }
    if (direction == Direction.SQL_WRITES) {
      statement(sql, "%s", create());
      insert(sql, names);
    }
    sql.append(
        String.format(
            "SELECT * FROM interop.cells('%s', '%s', %s, %s, %s, %s, %s) \\gexec%n",
            direction.letter,
            table.name,
            array(table.primaryKey),
            lookedUp(),
            array(table.prefixKey()),
            table.isPrefixFound(),
            array(table.partitionKey)));
    return sql.toString();
  }

  private void changelog(StringBuilder sql) {
    statement(
        sql,
        "CREATE FOREIGN TABLE %s_changes (%s%s, _change_type text OPTIONS (metadata 'change_type'))"
            + " SERVER fluss OPTIONS (database_name '%s', table_name '%s', scan_mode 'changelog')",
        foreign,
        definitions(false),
        position(" OPTIONS (metadata '%s')"),
        direction.database(),
        table.name);
  }

  /** The columns that say where a record is in the log. */
  private String position(String options) {
    StringBuilder columns = new StringBuilder();
    for (String[] column : POSITION) {
      if (table.isPartitioned() || !column[0].equals("partition")) {
        columns.append(", _").append(column[0]).append(' ').append(column[1]);
        columns.append(String.format(options, column[0]));
      }
    }
    return columns.toString();
  }

  private String positionNames() {
    return position("").replaceAll("( _\\w+) \\w+", "$1");
  }

  private String create() {
    String properties =
        table.properties.entrySet().stream()
            .map(p -> String.format("\"%s\": \"%s\"", p.getKey(), p.getValue()))
            .collect(Collectors.joining(", ", "'{", "}'"));
    return String.format(
        "SELECT interop.create_table('%s %s create table', '%s', %s, %s, %d, %s, %s)",
        direction.letter,
        table.name,
        foreign,
        table.isKeyed() ? array(table.primaryKey) : "NULL",
        table.bucketKey.isEmpty() ? "NULL" : array(table.bucketKey),
        table.buckets,
        properties,
        table.isPartitioned() ? array(table.partitionKey) : "NULL");
  }

  private void insert(StringBuilder sql, String names) {
    String rows = String.format("SELECT %s FROM %s ORDER BY _seq", names, all);
    if (table.name.equals("log_lz4_frame_3") || table.name.equals("kv_3")) {
      sql.append(String.format("\\copy (%s) TO '%s.csv' CSV%n", rows, table.name));
      sql.append(String.format("\\copy %s (%s) FROM '%s.csv' CSV%n", foreign, names, table.name));
    } else if (table.isPartitioned()) {
      statement(
          sql,
          "SELECT interop.insert_partitioned('%s %s insert', '%s',"
              + " $$INSERT INTO %s (%s) %s$$, $$%s$$)",
          direction.letter,
          table.name,
          foreign,
          foreign,
          names,
          rows,
          create());
    } else {
      statement(
          sql,
          "SELECT interop.run('%s %s insert', $$INSERT INTO %s (%s) %s$$)",
          direction.letter,
          table.name,
          foreign,
          names,
          rows);
    }
    if (!table.isKeyed()) {
      statement(
          sql,
          "SELECT interop.cell('%s %s last write', $$SELECT coalesce(sum(rows), 0)::bigint,"
              + " coalesce(sum(last_offset - first_offset + 1), 0)::bigint"
              + " FROM fluss_last_write()$$,"
              + " $$SELECT count(*), count(*) FROM %s$$)",
          direction.letter,
          table.name,
          all);
    }
  }

  private String definitions(boolean creating) {
    List<String> columns = new ArrayList<>();
    table.columns.forEach(
        (name, type) -> {
          String column = name + " " + type.postgres;
          if (creating && type.option != null) {
            column += " OPTIONS (fluss_type '" + type.option + "')";
          }
          if (creating && !table.type(name).isNullable()) {
            column += " NOT NULL";
          }
          columns.add(column);
        });
    return String.join(", ", columns);
  }

  /** Whether equality on the key must become a lookup; NULL: it may. */
  private String lookedUp() {
    List<Type> keys = table.types().subList(0, table.primaryKey.size());
    if (keys.stream().anyMatch(key -> key.name.equals("boolean"))) {
      return "NULL"; // k = true is simplified to k
    }
    return String.valueOf(keys.stream().allMatch(Type::isExactKey));
  }

  private static String array(List<String> names) {
    return "'{" + String.join(",", names) + "}'";
  }

  private static void statement(StringBuilder sql, String format, Object... arguments) {
    sql.append(String.format(format, arguments)).append(";\n");
  }
}
