import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.fluss.client.Connection;
import org.apache.fluss.client.ConnectionFactory;
import org.apache.fluss.client.FlussConnection;
import org.apache.fluss.client.admin.Admin;
import org.apache.fluss.client.admin.OffsetSpec;
import org.apache.fluss.client.metadata.MetadataUpdater;
import org.apache.fluss.client.table.Table;
import org.apache.fluss.client.table.scanner.Scan;
import org.apache.fluss.client.table.scanner.ScanRecord;
import org.apache.fluss.client.table.scanner.log.LogScanner;
import org.apache.fluss.client.table.scanner.log.ScanRecords;
import org.apache.fluss.config.Configuration;
import org.apache.fluss.metadata.DatabaseDescriptor;
import org.apache.fluss.metadata.PartitionInfo;
import org.apache.fluss.metadata.PartitionSpec;
import org.apache.fluss.metadata.TableBucket;
import org.apache.fluss.metadata.TableDescriptor;
import org.apache.fluss.metadata.TablePath;
import org.apache.fluss.row.InternalRow;
import org.apache.fluss.rpc.messages.PbProduceLogRespForBucket;
import org.apache.fluss.rpc.messages.ProduceLogRequest;
import org.apache.fluss.types.RowType;

/** The official Java client, as far as the tests need it. */
final class Fluss implements AutoCloseable {
  interface Visitor {
    void visit(TableBucket bucket, String partition, ScanRecord record, Object[] row);
  }

  interface RowVisitor {
    void visit(TableBucket bucket, Object[] row);
  }

  /** For the first leader, and for one more: the coordinator may have earlier work to do. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Duration PATIENCE_IN_BETWEEN = Duration.ofSeconds(8);

  /** For the next records of a log, and for the next rows of a table. */
  private static final Duration PATIENCE_FOR_RECORDS = Duration.ofSeconds(20);

  final Connection connection;
  final Admin admin;

  Fluss(String bootstrap) {
    Configuration settings = new Configuration();
    settings.setString("bootstrap.servers", bootstrap.replace(',', ';'));
    // without this every lookup waits for 100 ms
    settings.setString("client.lookup.batch-timeout", "1ms");
    settings.setString("client.writer.batch-timeout", "1ms");
    settings.setString("client.writer.retries", "300");
    connection = ConnectionFactory.createConnection(settings);
    admin = connection.getAdmin();
  }

  @Override
  public void close() throws Exception {
    connection.close();
  }

  /** New databases, in place of those of earlier runs. */
  void makeDatabases() throws Exception {
    for (String old : admin.listDatabases().get()) {
      if (old.startsWith(Direction.PREFIX)) {
        admin.dropDatabase(old, true, true).get();
      }
    }
    for (Direction direction : Direction.values()) {
      admin.createDatabase(direction.database(), DatabaseDescriptor.EMPTY, false).get();
    }
  }

  /**
   * Creates tables and partitions. A coordinator of 0.9.1 misses the creation of one now and then,
   * when it looks at the new ZooKeeper node only after the data has come to it; it never gets a
   * leader, and the table is made again. In between the coordinator must see that it is gone.
   */
  void create(
      Map<TablePath, TableDescriptor> tables, Map<TablePath, Set<PartitionSpec>> partitions)
      throws Exception {
    List<TablePath> waiting = new ArrayList<>(tables.keySet());
    for (int attempt = 0; !waiting.isEmpty(); attempt++) {
      if (attempt == 5) {
        throw new IllegalStateException("no leader for " + waiting);
      }
      if (attempt > 0) {
        for (TablePath path : waiting) {
          admin.dropTable(path, false).get();
        }
        Thread.sleep(2000);
      }
      for (TablePath path : waiting) {
        admin.createTable(path, tables.get(path), false).get();
        for (PartitionSpec partition : partitions.getOrDefault(path, Set.of())) {
          admin.createPartition(path, partition, false).get();
        }
      }
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      while (!waiting.isEmpty() && System.nanoTime() < deadline) {
        Thread.sleep(100);
        metadata().updateMetadata(new HashSet<>(waiting), null, null);
        for (Iterator<TablePath> it = waiting.iterator(); it.hasNext(); ) {
          if (isLed(it.next())) {
            it.remove();
            deadline = System.nanoTime() + PATIENCE_IN_BETWEEN.toNanos();
          }
        }
      }
    }
  }

  private boolean isLed(TablePath path) {
    try (Table table = connection.getTable(path)) {
      if (table.getTableInfo().isPartitioned()) {
        metadata().updateMetadata(Set.of(path), null, partitions(table).keySet());
      }
      return buckets(table).stream()
          .allMatch(
              bucket ->
                  metadata().getBucketLocation(bucket).map(l -> l.getLeader()).orElse(null)
                      != null);
    } catch (Exception e) {
      return false;
    }
  }

  private MetadataUpdater metadata() {
    return ((FlussConnection) connection).getMetadataUpdater();
  }

  /**
   * Reads a log from its beginning to its present end, projected to columns or, if null, all. Its
   * last batches may be without records, and the scanner does not tell of these: then nothing more
   * for a while is the end.
   */
  void readLog(TablePath path, int[] columns, Visitor visitor) throws Exception {
    try (Table table = connection.getTable(path)) {
      Map<TableBucket, Long> ends = ends(table);
      RowType type = table.getTableInfo().getRowType();
      Scan scan = table.newScan();
      if (columns != null) {
        type = type.project(columns);
        scan = scan.project(columns);
      }
      InternalRow.FieldGetter[] getters = getters(type);
      Map<Long, String> partitions = partitions(table);
      long deadline = System.nanoTime() + PATIENCE_FOR_RECORDS.toNanos();
      try (LogScanner scanner = scan.createLogScanner()) {
        for (TableBucket bucket : ends.keySet()) {
          if (bucket.getPartitionId() == null) {
            scanner.subscribeFromBeginning(bucket.getBucket());
          } else {
            scanner.subscribeFromBeginning(bucket.getPartitionId(), bucket.getBucket());
          }
        }
        while (!ends.isEmpty()) {
          if (System.nanoTime() > deadline) {
            break;
          }
          ScanRecords records = scanner.poll(Duration.ofSeconds(1));
          for (TableBucket bucket : records.buckets()) {
            deadline = System.nanoTime() + PATIENCE_FOR_RECORDS.toNanos();
            for (ScanRecord record : records.records(bucket)) {
              visitor.visit(
                  bucket,
                  partitions.get(bucket.getPartitionId()),
                  record,
                  fields(record.getRow(), getters));
              ends.computeIfPresent(
                  bucket, (b, end) -> record.logOffset() + 1 < end ? end : null);
            }
          }
        }
      }
    }
  }

  /** The ends of the buckets that are not empty. */
  private Map<TableBucket, Long> ends(Table table) throws Exception {
    TablePath path = table.getTableInfo().getTablePath();
    Map<Long, String> partitions = partitions(table);
    Map<TableBucket, Long> ends = new HashMap<>();
    List<TableBucket> buckets = buckets(table);
    for (Long partition :
        buckets.stream().map(TableBucket::getPartitionId).collect(Collectors.toSet())) {
      List<Integer> numbers =
          IntStream.range(0, table.getTableInfo().getNumBuckets())
              .boxed()
              .collect(Collectors.toList());
      (partition == null
              ? admin.listOffsets(path, numbers, new OffsetSpec.LatestSpec())
              : admin.listOffsets(
                  path, partitions.get(partition), numbers, new OffsetSpec.LatestSpec()))
          .all()
          .get()
          .forEach(
              (number, end) ->
                  ends.put(
                      new TableBucket(table.getTableInfo().getTableId(), partition, number), end));
    }
    ends.values().removeIf(end -> end == 0);
    return ends;
  }

  /** Copies, as a row lives in memory that the next poll takes back. */
  static Object[] fields(InternalRow row, InternalRow.FieldGetter[] getters) {
    Object[] fields = new Object[getters.length];
    for (int i = 0; i < fields.length; i++) {
      fields[i] = getters[i].getFieldOrNull(row);
    }
    return fields;
  }

  static InternalRow.FieldGetter[] getters(RowType type) {
    return IntStream.range(0, type.getFieldCount())
        .mapToObj(i -> InternalRow.createDeepFieldGetter(type.getTypeAt(i), i))
        .toArray(InternalRow.FieldGetter[]::new);
  }

  List<Object[]> readState(TablePath path) throws Exception {
    List<Object[]> rows = new ArrayList<>();
    readState(path, 1_000_000, (bucket, row) -> rows.add(row));
    return rows;
  }

  /** The rows of a primary key table, by a limit scan of each bucket. */
  void readState(TablePath path, int limit, RowVisitor visitor) throws Exception {
    try (Table table = connection.getTable(path)) {
      InternalRow.FieldGetter[] getters =
          getters(table.getTableInfo().getRowType());
      for (TableBucket bucket : buckets(table)) {
        try (var scanner = table.newScan().limit(limit).createBatchScanner(bucket)) {
          for (var batch = scanner.pollBatch(PATIENCE_FOR_RECORDS);
              batch != null;
              batch = scanner.pollBatch(PATIENCE_FOR_RECORDS)) {
            batch.forEachRemaining(row -> visitor.visit(bucket, fields(row, getters)));
          }
        }
      }
    }
  }

  /** The partitions' names by id; of a table without partitions none. */
  private Map<Long, String> partitions(Table table) throws Exception {
    Map<Long, String> partitions = new HashMap<>();
    if (table.getTableInfo().isPartitioned()) {
      for (PartitionInfo info : admin.listPartitionInfos(table.getTableInfo().getTablePath()).get()) {
        partitions.put(info.getPartitionId(), info.getPartitionName());
      }
    }
    return partitions;
  }

  private List<TableBucket> buckets(Table table) throws Exception {
    long id = table.getTableInfo().getTableId();
    List<Long> partitions =
        table.getTableInfo().isPartitioned()
            ? new ArrayList<>(partitions(table).keySet())
            : Collections.singletonList(null);
    return partitions.stream()
        .flatMap(
            partition ->
                IntStream.range(0, table.getTableInfo().getNumBuckets())
                    .mapToObj(bucket -> new TableBucket(id, partition, bucket)))
        .collect(Collectors.toList());
  }

  /** Has a server append a batch as it is, whatever the table's format. */
  void appendRaw(TablePath path, byte[] batch) throws Exception {
    try (Table table = connection.getTable(path)) {
      TableBucket bucket = buckets(table).get(0);
      ProduceLogRequest request =
          new ProduceLogRequest().setAcks(-1).setTableId(bucket.getTableId()).setTimeoutMs(10000);
      request.addBucketsReq().setBucketId(bucket.getBucket()).setRecords(batch);
      for (int attempt = 0; ; attempt++) {
        PbProduceLogRespForBucket answer =
            metadata()
                .newTabletServerClientForNode(metadata().leaderFor(path, bucket))
                .produceLog(request)
                .get()
                .getBucketsRespAt(0);
        if (!answer.hasErrorCode()) {
          return;
        }
        if (attempt == 50) {
          throw new IllegalStateException(answer.getErrorMessage());
        }
        Thread.sleep(100); // a new leader may not know its bucket yet
      }
    }
  }
}
