"""The measurements: each one by fluss_fdw and by pyfluss in turn, A B A B ...

Needs a fresh cluster (FLUSS_BOOTSTRAP), and a PostgreSQL with the extension
that psql finds by its environment. Results must be equal, or it fails.
"""

import asyncio
import os
import platform
import random
import re
import statistics
import subprocess
import sys
import time
import traceback

import fluss
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DATABASE = "bench"
READINGS = 1_000_000
MANY = 5_000_000  # readings that are aggregated
SENSORS = 100_000
LOOKUPS = 10_000
JOINED = 100_000
APPENDED = 1_000_000
UPSERTED = 200_000
BATCH = 10_000  # rows of a log batch
LOOKUPERS = 16_384
REPEATS = 7

random.seed(1)
np.random.seed(1)


# ---- the two sides


class Psql:
    """One psql session; its \\timing is what a client waits."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self, sql):
        """The rows as lists of text, and the milliseconds."""
        self.process.stdin.write(f"\\timing on\n{sql};\n\\timing off\n\\echo <end>\n")
        self.process.stdin.flush()
        rows, ms = [], None
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if line == "<end>":
                return rows, ms
            if match := re.match(r"Time: ([0-9.]+) ms", line):
                ms = float(match[1])
            else:
                rows.append(line.split("|"))
        raise RuntimeError("psql has ended")


class Java:
    """The Java client's loop over the records, in a process of its own."""

    def __init__(self, program, table):
        classes = os.environ["FLUSS_BENCH_CLASSES"]
        self.process = subprocess.Popen(
            ["java", "-Xmx1g", "--add-opens=java.base/java.nio=ALL-UNNAMED",
             "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classes,
             program, os.environ["FLUSS_BOOTSTRAP"], DATABASE, table],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    async def ask(self, question):
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        if not answer:
            raise RuntimeError("the Java client has ended")
        return answer.split("|")

    async def write(self, order):
        await self.ask(order)


class Pyfluss:
    """The same questions to pyfluss, asked in the fastest way it offers."""

    @classmethod
    async def open(cls):
        self = cls()
        # The defaults fetch 1 MiB a bucket, which is slower.
        config = fluss.Config({"bootstrap.servers": os.environ["FLUSS_BOOTSTRAP"]})
        config.scanner_log_fetch_max_bytes = 64 << 20
        config.scanner_log_fetch_max_bytes_for_bucket = 16 << 20
        self.connection = await fluss.FlussConnection.create(config)
        self.admin = self.connection.get_admin()
        return self

    async def open_tables(self):
        self.readings = await self.connection.get_table(path("sensor_readings"))
        self.state = await self.connection.get_table(path("sensor_info"))
        self.many = await self.connection.get_table(path("many_readings"))
        self.appended = await self.connection.get_table(path("new_readings"))
        self.upserted = await self.connection.get_table(path("new_info"))
        # A lookuper answers one lookup at a time and waits 100 ms for others that
        # may share its request: only many lookupers make many lookups fast.
        self.lookupers = [self.state.new_lookup().create_lookuper() for _ in range(LOOKUPERS)]

    async def reader(self, columns, table=None):
        scan = (table or self.readings).new_scan().project_by_name(columns)
        scanner = await scan.create_record_batch_log_scanner()
        scanner.subscribe(0, fluss.EARLIEST_OFFSET)
        return scanner

    async def scan(self):
        table = await (await self.reader(["temperature_c"])).to_arrow()
        return [table.num_rows, pc.sum(table["temperature_c"]).as_py()]

    async def count(self):
        return [(await (await self.reader(["sensor_id"], self.many)).to_arrow()).num_rows]

    async def aggregate(self):
        table = await (await self.reader(["temperature_c"], self.many)).to_arrow()
        column = table["temperature_c"]
        edges = pc.min_max(column)
        return [pc.count(column).as_py(), pc.sum(column).as_py(), pc.mean(column).as_py(),
                edges["min"].as_py(), edges["max"].as_py()]

    async def look_up(self, keys):
        return await asyncio.gather(*[
            self.lookupers[i % LOOKUPERS].lookup((key,)) for i, key in enumerate(keys)])

    async def lookups(self, keys):
        rows = await self.look_up(keys)
        return [len(rows), sum(len(row["name"]) for row in rows)]

    async def first_readings(self):
        scanner = await self.reader(["sensor_id", "temperature_c"])
        batches, n = [], 0
        while n < JOINED:
            for batch in await scanner.poll_record_batch(1000):
                batches.append(batch.batch)
                n += batch.batch.num_rows
        return pa.Table.from_batches(batches).slice(0, JOINED)

    async def join_by_lookups(self):
        readings = await self.first_readings()
        keys = pc.unique(readings["sensor_id"]).to_pylist()
        rows = await self.look_up(keys)
        return enriched(readings, pa.Table.from_pylist(
            [{"sensor_id": row["sensor_id"], "state": row["state"]} for row in rows],
            schema=pa.schema([("sensor_id", pa.int32()), ("state", pa.string())])))

    async def join_by_whole_read(self):
        readings = await self.first_readings()
        bucket = fluss.TableBucket(self.state.get_table_info().table_id, 0)
        scan = self.state.new_scan().project_by_name(["sensor_id", "state"]).limit(SENSORS)
        return enriched(readings, await scan.create_bucket_batch_scanner(bucket).to_arrow())


def enriched(readings, state):
    groups = readings.join(state, "sensor_id", join_type="inner").group_by("state").aggregate(
        [("temperature_c", "count"), ("temperature_c", "sum")])
    return sorted([g["state"], g["temperature_c_count"], g["temperature_c_sum"]]
                  for g in groups.to_pylist())


# ---- the tables


def path(table):
    return fluss.TablePath(DATABASE, table)


async def create(admin, name, columns, keys):
    """A coordinator of 0.9.1 may miss the creation of a table: then make it again."""
    schema = fluss.Schema(pa.schema(columns), primary_keys=keys)
    descriptor = fluss.TableDescriptor(schema, bucket_count=1, bucket_keys=["sensor_id"])
    for _ in range(5):
        await admin.create_table(path(name), descriptor, ignore_if_exists=False)
        for _ in range(20):
            await asyncio.sleep(0.5)
            try:
                offsets = admin.list_offsets(path(name), [0], fluss.OffsetSpec.latest())
                await asyncio.wait_for(offsets, 2)
                return
            except (fluss.FlussError, asyncio.TimeoutError):
                pass
        await admin.drop_table(path(name), ignore_if_not_exists=True)
        await asyncio.sleep(2)
    raise RuntimeError(f"table {name} gets no leader")


def readings(n):
    start = np.datetime64("2026-08-04T09:00:00", "ms")
    return pa.table({
        "sensor_id": np.random.randint(1, SENSORS + 1, n).astype(np.int32),
        "measured_at": start + np.arange(n).astype("timedelta64[ms]"),
        # sums of quarters are exact, in whatever order
        "temperature_c": np.round(np.random.normal(22, 3, n) * 4) / 4,
        "humidity_pct": np.round(np.random.normal(45, 5, n), 1),
    })


async def append(table, rows):
    writer = table.new_append().create_writer()
    for batch in rows.to_batches(max_chunksize=BATCH):
        writer.write_arrow_batch(batch)
    await writer.flush()


async def append_rows(table, rows):
    writer = table.new_append().create_writer()
    for row in rows:
        writer.append(row)
    await writer.flush()


STATES = ["OK", "ERROR", "MAINTENANCE", "LOW_BATTERY", "CALIBRATING"]


async def upsert(table, n):
    writer = table.new_upsert().create_writer()
    for i in range(1, n + 1):
        writer.upsert((i, f"sensor number {i}", f"room-{i % 997}", STATES[i % 5]))
    await writer.flush()


async def load(pyfluss):
    await pyfluss.admin.create_database(DATABASE, ignore_if_exists=True)
    for name in ("sensor_readings", "many_readings", "new_readings"):
        await create(pyfluss.admin, name, [
            ("sensor_id", pa.int32()), ("measured_at", pa.timestamp("ms")),
            ("temperature_c", pa.float64()), ("humidity_pct", pa.float64())], None)
    for name in ("sensor_info", "new_info"):
        await create(pyfluss.admin, name, [
            pa.field("sensor_id", pa.int32(), nullable=False), ("name", pa.string()),
            ("location", pa.string()), ("state", pa.string())], ["sensor_id"])
    await pyfluss.open_tables()

    await append(pyfluss.readings, readings(READINGS))
    for _ in range(MANY // READINGS):
        await append(pyfluss.many, readings(READINGS))
    await upsert(pyfluss.state, SENSORS)


def define(psql):
    psql.run(f"""
        CREATE EXTENSION fluss_fdw;
        CREATE SERVER fluss FOREIGN DATA WRAPPER fluss_fdw
            OPTIONS (bootstrap_servers '{os.environ["FLUSS_BOOTSTRAP"]}',
                     database_name '{DATABASE}');
        CREATE USER MAPPING FOR PUBLIC SERVER fluss;
        CREATE FOREIGN TABLE sensor_readings (
            sensor_id integer, measured_at timestamp(3),
            temperature_c double precision, humidity_pct double precision,
            _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER fluss;
        CREATE FOREIGN TABLE many_readings (
            sensor_id integer, measured_at timestamp(3),
            temperature_c double precision, humidity_pct double precision) SERVER fluss;
        CREATE FOREIGN TABLE new_readings (
            sensor_id integer, measured_at timestamp(3),
            temperature_c double precision, humidity_pct double precision) SERVER fluss;
        CREATE FOREIGN TABLE sensor_info (
            sensor_id integer, name text, location text, state text) SERVER fluss;
        CREATE FOREIGN TABLE new_info (
            sensor_id integer, name text, location text, state text) SERVER fluss;
        PREPARE lookups(int[]) AS SELECT count(*), sum(length(name))
            FROM sensor_info WHERE sensor_id = ANY ($1)""")


# ---- the measurements


def same(a, b):
    """Rows of psql and of Python."""
    return [[str(x).removesuffix(".0") for x in row] for row in a] == \
        [[str(x).removesuffix(".0") for x in row] for row in b]


async def compare(psql, title, sql, other, mark=None, repeats=REPEATS):
    """A line of the table: medians and their ratio, after a warm-up of each."""
    ours, theirs = [], []
    for i in range(repeats + 1):
        rows, ms = psql.run(sql)
        start = time.perf_counter()
        expected = await other()
        theirs_ms = (time.perf_counter() - start) * 1000
        if expected and not isinstance(expected[0], list):
            expected = [expected]
        if not same(rows, expected):
            raise RuntimeError(f"{title}: fluss_fdw says {rows}, pyfluss {expected}")
        if i > 0:
            ours.append(ms)
            theirs.append(theirs_ms)
    a, b = statistics.median(ours), statistics.median(theirs)
    report(title, f"{a:.1f}", f"{b:.1f}", f"{a / b:.2f}",
           mark and f"<= {mark} x", mark and a / b <= mark)


async def compare_all(psql, title, sql, rivals, mark=None):
    """The same beside several clients, a line for each; the mark is the best one's."""
    times = {name: [] for name in ["fluss_fdw", *rivals]}
    for i in range(REPEATS + 1):
        rows, ms = psql.run(sql)
        times["fluss_fdw"].append(ms)
        for name, rival in rivals.items():
            start = time.perf_counter()
            expected = await rival()
            times[name].append((time.perf_counter() - start) * 1000)
            if expected is not None and \
                    [float(x) for x in rows[0]] != [float(x) for x in expected]:
                raise RuntimeError(f"{title}: fluss_fdw says {rows}, {name} {expected}")
    medians = {name: statistics.median(ms[1:]) for name, ms in times.items()}
    best = min(rivals, key=medians.get)
    ratio = medians["fluss_fdw"] / medians[best]
    for name in rivals:
        report(f"{title}, {name}", f"{medians['fluss_fdw']:.1f}", f"{medians[name]:.1f}",
               f"{medians['fluss_fdw'] / medians[name]:.2f}",
               f"<= {mark} x" if mark and name == best else None,
               mark and name == best and ratio <= mark)


async def compare_writes(psql, pyfluss):
    """Appends and upserts of the rows of a local table, all acknowledged."""
    psql.run(f"""
        CREATE TABLE local_readings AS
            SELECT g % {SENSORS} + 1 AS sensor_id,
                timestamp(3) '2026-08-04 09:00' + g * interval '1 ms' AS measured_at,
                20 + g % 40 / 4.0::float8 AS temperature_c, 40 + g % 100 / 10.0::float8 AS humidity_pct
            FROM generate_series(0, {APPENDED - 1}) g;
        CREATE TABLE local_info AS
            SELECT i AS sensor_id, 'sensor number ' || i AS name, 'room-' || i % 997 AS location,
                ('{{{",".join(STATES)}}}'::text[])[i % 5 + 1] AS state
            FROM generate_series(1, {UPSERTED}) i;
        VACUUM ANALYZE local_readings, local_info""")
    table = readings(APPENDED)
    rows = table.to_pylist()
    java = Java("Writes", "new_readings")
    await compare_all(psql, f"append of {APPENDED} rows",
                      "INSERT INTO new_readings SELECT * FROM local_readings", {
                          "pyfluss by Arrow batches": lambda: append(pyfluss.appended, table),
                          "pyfluss by rows": lambda: append_rows(pyfluss.appended, rows),
                          "Java": lambda: java.write(f"append {APPENDED}")})
    expected = 4 * (REPEATS + 1) * APPENDED
    found = int(psql.run("SELECT count(*) FROM new_readings")[0][0][0])
    if found != expected:
        raise RuntimeError(f"{found} rows were appended, not {expected}")
    java = Java("Writes", "new_info")
    await compare_all(psql, f"upsert of {UPSERTED} rows",
                      "INSERT INTO new_info SELECT * FROM local_info", {
                          "pyfluss": lambda: upsert(pyfluss.upserted, UPSERTED),
                          "Java": lambda: java.write(f"upsert {UPSERTED}")})


def latency(psql, title, mark):
    times = []
    for i in range(60):
        first = random.randrange(READINGS - 10)
        rows, ms = psql.run(f"""
            SELECT r.*, i.name, i.location, i.state
            FROM sensor_readings r LEFT JOIN sensor_info i USING (sensor_id)
            WHERE r._log_offset >= {first} AND r._log_offset < {first + 10}""")
        if len(rows) != 10 or any(row[-1] == "" for row in rows):
            raise RuntimeError(f"{title}: got {rows}")
        if i >= 10:
            times.append(ms)
    median = statistics.median(times)
    report(title, f"{median:.2f}", "", "", f"<= {mark} ms", median <= mark)


def report(title, ours, theirs, ratio, mark, reached):
    verdict = (mark or "") + (" reached" if reached else " missed" if mark else "")
    print(f"{title:<42} {ours:>12} {theirs:>12} {ratio:>7}  {verdict}".rstrip(), flush=True)


async def main():
    pyfluss = await Pyfluss.open()
    psql = Psql()
    print(f"--- loading {READINGS} readings and {SENSORS} states", flush=True)
    await load(pyfluss)
    define(psql)

    keys = random.sample(range(1, SENSORS + 1), LOOKUPS)
    array = "{" + ",".join(map(str, keys)) + "}"
    join = f"""
        SELECT state, count(*), sum(temperature_c)
        FROM sensor_readings JOIN sensor_info USING (sensor_id)
        WHERE _log_offset < {JOINED} GROUP BY state ORDER BY state COLLATE "C" """
    print(f"--- {os.cpu_count()} x {cpu()}, load {os.getloadavg()[0]:.1f},"
          f" PostgreSQL {psql.run('SHOW server_version')[0][0][0]}; medians of {REPEATS}")
    report("", "fluss_fdw ms", "pyfluss ms", "ratio", None, False)
    await compare(psql, f"count(*), sum() over {READINGS} readings",
                  "SELECT count(*), sum(temperature_c) FROM sensor_readings", pyfluss.scan, 3)
    java = Java("Readings", "many_readings")
    await compare_all(psql, f"count(*) over {MANY}", "SELECT count(*) FROM many_readings",
                      {"pyfluss": pyfluss.count, "Java": lambda: java.ask("count sensor_id")}, 1)
    await compare_all(psql, f"count, sum, avg, min, max over {MANY}", """
        SELECT count(temperature_c), sum(temperature_c), avg(temperature_c),
            min(temperature_c), max(temperature_c) FROM many_readings""",
                      {"pyfluss": pyfluss.aggregate,
                       "Java": lambda: java.ask("aggregate temperature_c")}, 1)
    await compare(psql, f"{LOOKUPS} lookups in one statement",
                  f"EXECUTE lookups('{array}')", lambda: pyfluss.lookups(keys), 1)
    await compare(psql, f"join of {JOINED} readings, by lookups", join, pyfluss.join_by_lookups,
                  repeats=3)
    await compare(psql, "the same, pyfluss reads the state whole", join,
                  pyfluss.join_by_whole_read)
    latency(psql, "warm enrichment of 10 readings", 5)
    await compare_writes(psql, pyfluss)


def cpu():
    with open("/proc/cpuinfo") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


status = 0
try:
    asyncio.run(main())
except Exception:
    traceback.print_exc()
    status = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(status)  # pyfluss may abort in an orderly exit
