# A row that another session changes under a lookup join is joined again as it
# is now; and memory stays within bounds over a million outer rows.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;

my ($cluster, $session) = begin_test('lookup_join');
add_good_server($session, 'good', bootstrap_servers => $cluster->bootstrap);
add_info($session, 'good', 'info', 1000);
$session->value(
	"CREATE TABLE loc (id integer, v integer, tag text);
	 INSERT INTO loc SELECT g, g, 'old' FROM generate_series(1, 4) g");
my $forced =
  'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off';
my $other = FlussSession->new;
$session->value($forced);

# ---- rows that are checked again

for my $case (
	[ 'a join', 'SELECT l.id, l.v, i.name FROM loc l JOIN info i ON i.sensor_id = l.id
	   ORDER BY l.v FOR UPDATE OF l', 'UPDATE loc SET v = v + 100 WHERE id = 2',
		"1|1|sensor 1\n2|102|sensor 2\n3|3|sensor 3\n4|4|sensor 4" ],
	[ 'a join whose key changes', 'SELECT l.id, l.v, i.name FROM loc l JOIN info i ON i.sensor_id = l.id
	   ORDER BY l.v FOR UPDATE OF l', 'UPDATE loc SET id = 7 WHERE id = 2',
		"1|1|sensor 1\n3|3|sensor 3\n4|4|sensor 4" ],
	[ 'a left join whose key changes', 'SELECT l.id, l.v, i.name FROM loc l LEFT JOIN info i ON i.sensor_id = l.id
	   ORDER BY l.v FOR UPDATE OF l', 'UPDATE loc SET id = 7 WHERE id = 2',
		"1|1|sensor 1\n7|2|\n3|3|sensor 3\n4|4|sensor 4" ],
	[ 'an UPDATE', 'UPDATE loc l SET tag = i.name FROM info i WHERE i.sensor_id = l.id AND l.v > 1
	   RETURNING l.id, l.v, l.tag', 'UPDATE loc SET v = v + 100 WHERE id = 2',
		"3|3|sensor 3\n4|4|sensor 4\n2|102|sensor 2" ])
{
	my ($name, $query, $change, $expected) = @$case;

	like($session->value("EXPLAIN (COSTS OFF) $query"), qr/Fluss Lookup Join/, "$name: the plan");
	$other->value("BEGIN; $change");
	$session->value('BEGIN');
	$session->send($query);
	ok(!$session->ready(1), "$name waits");
	$other->value('COMMIT');
	my $result = $session->finish(30);
	is(join("\n", sort split /\n/, $result->{out} . $result->{err}),
		join("\n", sort split /\n/, $expected), "$name sees the row as it is now");
	$session->value(
		"ROLLBACK; TRUNCATE loc; INSERT INTO loc SELECT g, g, 'old' FROM generate_series(1, 4) g");
}

# ---- memory

$session->value('SELECT count(i.name) FROM generate_series(1, 20000) g JOIN info i ON i.sensor_id = g % 1500');
my $before = rss_anon_kb($session->pid);
is_value($session,
	'SELECT count(i.name) FROM generate_series(1, 1000000) g JOIN info i ON i.sensor_id = g % 2000',
	'500000', 'a million outer rows');
my $grown = rss_anon_kb($session->pid) - $before;
cmp_ok($grown, '<', 100_000, "a million outer rows need $grown kB more than 20,000");

$other->close;
$session->value('DROP TABLE loc');
end_test($session, 'good');
