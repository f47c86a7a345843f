/**
 * Who writes a table; the other side reads it. Each has a Fluss database and two schemas. The
 * databases have other names in each run: servers go on telling of a dropped table for a while,
 * and a client that asks for a new one of that name would write into the old one.
 */
enum Direction {
  JAVA_WRITES("a"),
  SQL_WRITES("b");

  static final String PREFIX = "interop_";

  final String letter;

  Direction(String letter) {
    this.letter = letter;
  }

  String database() {
    return PREFIX + letter + "_" + System.getProperty("interop.run");
  }

  String heap() {
    return "heap_" + letter;
  }

  String foreign() {
    return "fluss_" + letter;
  }
}
