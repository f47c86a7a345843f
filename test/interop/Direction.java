/** Who writes a table; the other side reads it. Each has a Fluss database and two schemas. */
enum Direction {
  JAVA_WRITES("a"),
  SQL_WRITES("b");

  final String letter;

  Direction(String letter) {
    this.letter = letter;
  }

  String database() {
    return "interop_" + letter;
  }

  String heap() {
    return "heap_" + letter;
  }

  String foreign() {
    return "fluss_" + letter;
  }
}
