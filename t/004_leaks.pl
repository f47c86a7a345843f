# What ends by an ERROR, thousands of times in one session and in one
# transaction, leaves nothing behind: no descriptor, no socket, no memory.
# Neither do a hundred thousand lookups, and several scans share a connection.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use List::Util qw(max);
use Test::More;

my ($cluster, $session) = begin_test('leaks');
add_good_server($session, 'good', bootstrap_servers => $cluster->bootstrap);
add_readings($session, 'good', 'readings', 1000);
add_readings($session, 'good', 'sink', 1);
add_info($session, 'good', 'info', 1000);
$session->value(
	"CREATE FOREIGN TABLE hist (sensor_id integer NOT NULL, day text NOT NULL, v bigint) SERVER good;
	 SELECT fluss_create_table('hist', primary_key => '{sensor_id,day}', bucket_key => '{sensor_id}', bucket_count => 1);
	 INSERT INTO hist SELECT g % 10, 'day ' || g, g FROM generate_series(1, 50) g");
$session->value("ALTER FOREIGN TABLE sink OPTIONS (writer_batch_size '1024', batch_size '10')");

# Runs a failing statement so many times, each in an exception block of one
# transaction; returns how often it failed, and how many kB the session's
# memory contexts grew from a tenth of the way to the end.
$session->value(<<'SQL');
CREATE FUNCTION fail(statement text, times integer, OUT failures integer, OUT growth_kb bigint) AS $$
DECLARE
  early bigint;
BEGIN
  failures := 0;
  FOR i IN 1 .. times LOOP
    BEGIN
      EXECUTE statement;
    EXCEPTION WHEN division_by_zero THEN
      failures := failures + 1;
    END;
    IF i = times / 10 THEN
      SELECT sum(total_bytes) INTO early FROM pg_backend_memory_contexts;
    END IF;
  END LOOP;
  SELECT (sum(total_bytes) - early) / 1024 INTO growth_kb FROM pg_backend_memory_contexts;
END $$ LANGUAGE plpgsql
SQL

for my $case (
	[ 'a scan', 10_000,
		'SELECT sum(1 / (temperature_c::int - 500)) FROM readings' ],
	[ 'a scan under a cursor of its own', 2_000,
		'DO $body$ DECLARE r record; BEGIN
		   FOR r IN SELECT sensor_id FROM readings LOOP PERFORM 1 / (r.sensor_id - 20); END LOOP;
		 END $body$' ],
	[ 'a lookup', 10_000,
		'SELECT 1 / (length(name) - 9) FROM info WHERE sensor_id IN (1, 10, 100)' ],
	[ 'a whole read of a primary key table', 1_000,
		'SELECT 1 / (sensor_id - 500) FROM info' ],
	[ 'a prefix lookup', 500,
		'SELECT 1 / (v - 33) FROM hist WHERE sensor_id IN (1, 2, 3)' ],
	[ 'a lookup join', 500,
		'SELECT 1 / (length(name) - 9) FROM readings r JOIN info i ON i.sensor_id = r.temperature_c::int' ],
	[ 'a join by the prefix of a key', 500,
		'SELECT 1 / (h.v - 33) FROM readings r JOIN hist h ON h.sensor_id = r.sensor_id WHERE r._log_offset < 100' ],
	[ 'an aggregate', 1_000,
		'SELECT 1 / (count(*) - 1000) FROM readings WHERE temperature_c >= 0' ],
	[ 'the tail of a log', 1_000,
		'SELECT 1 / (_log_offset - 995) FROM readings ORDER BY _log_offset DESC LIMIT 10' ],
	[ 'a filter on vectors', 1_000,
		'SELECT 1 / (temperature_c::int - 500) FROM readings WHERE temperature_c > 400 AND humidity_pct < 400' ],
	[ 'an UPDATE', 500,
		'UPDATE hist SET v = 1 / (v - 33) WHERE sensor_id IN (1, 2, 3)' ],
	[ 'an INSERT', 10_000,
		'INSERT INTO sink (sensor_id, temperature_c) SELECT g, 1 / (g - 5) FROM generate_series(1, 10) g' ],
	[ 'an INSERT that has sent some batches', 2_000,
		'INSERT INTO sink (sensor_id, temperature_c) SELECT g, 1 / (g - 200) FROM generate_series(1, 210) g' ],
	[ 'an upsert', 2_000,
		'INSERT INTO info SELECT g, (1 / (g - 1500))::text FROM generate_series(1400, 1510) g' ])
{
	my ($name, $times, $statement) = @$case;
	my $failing = FlussSession->new;
	my $call = "SELECT * FROM fail(\$s\$$statement\$s\$, %d)";

	# as many as are needed until all caches are filled
	$failing->value(sprintf $call, $times / 10);
	context_kb($failing);
	my @before = (
		scalar descriptors($failing->pid),
		scalar sockets($failing->pid), context_kb($failing),
		rss_anon_kb($failing->pid));
	my $result = $failing->run(sprintf($call, $times), 300);
	my @after = (
		scalar descriptors($failing->pid),
		scalar sockets($failing->pid), context_kb($failing),
		rss_anon_kb($failing->pid));

	my ($failures, $growth) = split /\|/, $result->{out};
	is($failures, $times, "$name failed each time")
	  or diag($result->{err});
	cmp_ok($growth, '<', 100, "$name: no memory in the transaction");
	is($after[0], $before[0], "$name: no file descriptor");
	is($after[1], $before[1], "$name: no socket");
	cmp_ok($after[2] - $before[2], '<', 100, "$name: no memory context");
	cmp_ok($after[3] - $before[3], '<', 2048, "$name: no other memory");
	note(sprintf '%s: %.2f ms each', $name,
		$result->{seconds} * 1000 / $times);
	is_value($failing, 'SELECT count(*) FROM readings WHERE sensor_id = 1',
		10, "$name: the session goes on");
}
is_value($session, "SELECT count(*) FROM sink WHERE sensor_id < 5 AND temperature_c = 7",
	0, 'what was never sent is not there');

# ---- a hundred thousand lookups in one statement

{
	my $looking = FlussSession->new;
	$looking->value('SET enable_hashjoin = off; SET enable_mergejoin = off;
		SET enable_material = off; SET enable_memoize = off; SET jit = off;
		SET fluss_fdw.enable_lookup_join = off');
	# nothing in it but the lookups needs memory that grows
	my $lookups = sub {
		return "SELECT count(*), count(i.name), sum(i.sensor_id)
			FROM (SELECT generate_series(0, $_[0] - 1) % 2000 AS id) x
			LEFT JOIN info i ON i.sensor_id = x.id";
	};
	like(
		$looking->value('EXPLAIN (COSTS OFF) ' . $lookups->(100)),
		qr/Nested Loop.*Fluss Scan: lookup/s,
		'the plan is a nested loop of lookups');
	is_value($looking, $lookups->(10_000),
		'10000|5000|2497500', 'ten thousand lookups');
	my ($early, $late) = (rss_anon_kb($looking->pid), 0);
	my @before = (scalar descriptors($looking->pid), context_kb($looking));
	$looking->send($lookups->(100_000));
	$late = max($late, rss_anon_kb($looking->pid)) until $looking->ready(0.05);
	my $answer = $looking->finish;
	is($answer->{out} . $answer->{err}, '100000|50000|24975000',
		'a hundred thousand lookups in one statement');
	note(sprintf '%.1f us each', $answer->{seconds} * 10);
	cmp_ok($late - $early, '<', 2048, 'their memory is flat');
	is(scalar descriptors($looking->pid),
		$before[0], 'they left no file descriptor');
	cmp_ok(context_kb($looking) - $before[1], '<', 100, 'and no memory');
}

# ---- several scans at once, on one connection

my @several = (
	[ 'SELECT count(*), sum(a.temperature_c), sum(c.humidity_pct) FROM readings a
		JOIN readings b ON b._log_offset = a._log_offset + 1
		JOIN readings c ON c._log_offset = b._log_offset + 1' => '998|497503|249749.5' ],
	[ 'SELECT count(*), count(name), min(name) FROM (SELECT r.sensor_id,
		(SELECT name FROM info i WHERE i.sensor_id = r.sensor_id) AS name
		FROM readings r) x' => '1000|1000|sensor 0' ],
	[ 'SELECT sum(n) FROM (SELECT (SELECT count(*) FROM readings b
		WHERE b._log_offset < a._log_offset) AS n FROM readings a WHERE _log_offset < 100) x' => '4950' ],
	[ 'SELECT count(*) FROM readings a WHERE EXISTS (SELECT FROM readings b
		WHERE b._log_offset = a._log_offset / 2) AND sensor_id NOT IN (SELECT sensor_id FROM info WHERE sensor_id > 9)' => '100' ]);
{
	my $counting = FlussSession->new;
	my $idle = sockets($counting->pid);
	$counting->value('SELECT count(*) FROM readings');
	$counting->value('SELECT name FROM info WHERE sensor_id = 1');
	my $one = sockets($counting->pid);
	for my $join ('', 'enable_hashjoin', 'enable_mergejoin', 'enable_material')
	{
		$counting->value("SET $join = off") if $join;
		is_value($counting, @$_, "several scans in one statement, $join off: "
			  . ($_->[0] =~ s/\s+/ /gr)) for @several;
	}
	is(scalar sockets($counting->pid),
		$one, 'several scans share the connections of one');
	cmp_ok($one - $idle, '<=', 4, 'which are few');
}

# ---- a failed cast, and what comes after it

is($session->run('SELECT (sensor_id || $$x$$)::int FROM readings')->{sqlstate},
	'22P02', 'a cast fails in mid-scan');
is_value($session, 'SELECT count(*) FROM (SELECT 1 FROM readings) x',
	1000, 'a scan of no column works after it');

# ---- auto_explain

SKIP:
{
	my $explained = FlussSession->new;
	skip 'there is no auto_explain', 1
	  if $explained->run("LOAD 'auto_explain'")->{errors};
	$explained->value('SET auto_explain.log_min_duration = 0;
		SET auto_explain.log_analyze = on; SET auto_explain.log_verbose = on;
		SET auto_explain.log_nested_statements = on');
	is_value($explained, @$_, 'under auto_explain: ' . ($_->[0] =~ s/\s+/ /gr))
	  for @several,
	  [ 'SELECT failures FROM fail($s$SELECT 1 / (temperature_c::int - 500) FROM readings$s$, 100)' => 100 ],
	  [ 'INSERT INTO sink (sensor_id) SELECT sensor_id FROM readings WHERE _log_offset < 10' => '' ];
}

end_test($session, 'good');
