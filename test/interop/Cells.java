import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs the cells of the test and prints a line for each. */
final class Cells {
  /** Returns a remark for the line, or throws. */
  interface Cell {
    String run() throws Exception;
  }

  private static final int THREADS = 4;

  private final AtomicInteger failed = new AtomicInteger();

  /** Runs tasks, some at a time: most of their time is waiting for servers. */
  static void together(List<Runnable> tasks) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    tasks.forEach(threads::execute);
    threads.shutdown();
    threads.awaitTermination(1, TimeUnit.HOURS);
  }

  boolean run(String name, Cell cell) {
    try {
      System.out.println("ok - " + name + " (" + cell.run() + ")");
      return true;
    } catch (Exception | AssertionError e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      System.out.println("not ok - " + name + ": " + String.valueOf(cause).replace('\n', ' '));
      failed.incrementAndGet();
      return false;
    }
  }

  boolean allPassed() {
    return failed.get() == 0;
  }

  static void same(Object want, Object got) {
    if (!Objects.equals(want, got)) {
      throw new AssertionError("expected " + want + ", got " + got);
    }
  }

  /** The same rows as often, in any order. */
  static String sameRows(List<List<String>> want, List<List<String>> got) {
    Map<List<String>, Integer> count = new HashMap<>();
    want.forEach(row -> count.merge(row, 1, Integer::sum));
    List<List<String>> extra = new ArrayList<>();
    got.forEach(
        row -> {
          if (count.merge(row, -1, Integer::sum) < 0) {
            extra.add(row);
          }
        });
    count.values().removeIf(n -> n <= 0);
    if (!extra.isEmpty() || !count.isEmpty()) {
      throw new AssertionError(
          String.format(
              "%d rows of %d are missing, like %s; %d are extra, like %s",
              count.values().stream().mapToInt(n -> n).sum(),
              want.size(),
              first(count.keySet()),
              extra.size(),
              first(extra)));
    }
    return got.size() + " rows";
  }

  private static String first(Iterable<List<String>> rows) {
    for (List<String> row : rows) {
      String text = row.toString();
      return text.length() > 300 ? text.substring(0, 300) + "..." : text;
    }
    return "none";
  }
}
