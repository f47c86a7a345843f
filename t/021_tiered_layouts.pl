# Log segments that lie only in remote storage, of every log format and of the
# changelogs of primary key tables, written under an older schema and under the
# newest one: they read as the rows that were written.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $rows = 20_000;		# of each phase
my $half = $rows / 2;
# A text that compression leaves at a hundred bytes and more.
my $text = "(SELECT string_agg(md5(i || ' ' || n || '%s'), '') FROM generate_series(1, 10) n)";
my $local_offset = "OPTIONS (metadata 'log_offset')";

my (undef, $session) = begin_test('layouts');
my $database = $ENV{PGDATABASE};
my $cluster = FlussCluster->start(
	'layouts',
	'--set' => 'log.segment.file-size=1mb',
	'--set' => 'remote.log.task-interval-duration=1s',
	'--set' => 'kv.snapshot.interval=2s');

add_good_server($session, 'remote',
	bootstrap_servers => $cluster->bootstrap,
	writer_batch_size => '128kB',
	remote_files => "$cluster->{dir}/remote");

my %log = map { ("log_\L$_" => { format => $_ }) } qw(ARROW INDEXED COMPACTED);
my %changes = (
	changes_arrow => { format => 'ARROW', kv => 'COMPACTED' },
	changes_indexed => { format => 'ARROW', kv => 'INDEXED' },
	changes_compacted => { format => 'COMPACTED', kv => 'COMPACTED' });

# ---- helpers

# The first offset that the server has itself.
sub local_start
{
	my ($name) = @_;
	my ($first) = sort map { m{/(\d{20})\.log$} } glob
	  "$cluster->{dir}/tablet-0/data/$database/$name-*/log-*/*.log";
	return $first // 0;
}

sub wait_until_remote
{
	my ($offset, @names) = @_;
	my $end = time + 90;

	for my $name (@names)
	{
		sleep 0.2 while local_start($name) < $offset && time < $end;
		cmp_ok(local_start($name), '>=', $offset, "offsets below $offset of $name are remote only");
	}
	return;
}

sub same_rows
{
	my ($columns, $table, $expected, $name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;

	return is_value(
		$session,
		"SELECT count(*) FROM (SELECT $columns FROM $table EXCEPT ALL SELECT $columns FROM $expected) x;
		 SELECT count(*) FROM (SELECT $columns FROM $expected EXCEPT ALL SELECT $columns FROM $table) x;
		 SELECT (SELECT count(*) FROM $table) = (SELECT count(*) FROM $expected)",
		"0\n0\nt", $name);
}

# ---- before the column is added

for my $name (sort keys %log)
{
	$session->value(
		"CREATE FOREIGN TABLE $name (id integer, txt text, off bigint $local_offset) SERVER remote;
		 SELECT fluss_create_table('$name', bucket_count => 1, properties =>
		   '{\"table.log.format\": \"$log{$name}{format}\", \"table.log.tiered.local-segments\": \"1\"}')");
}
for my $name (sort keys %changes)
{
	my ($format, $kv) = @{ $changes{$name} }{qw(format kv)};

	$session->value(
		"CREATE FOREIGN TABLE ${name}_state (id integer, txt text) SERVER remote OPTIONS (table_name '$name');
		 CREATE FOREIGN TABLE $name (id integer, txt text, off bigint $local_offset,
		   change text OPTIONS (metadata 'change_type')) SERVER remote OPTIONS (scan_mode 'changelog');
		 SELECT fluss_create_table('${name}_state', primary_key => '{id}', bucket_count => 1, properties =>
		   '{\"table.log.format\": \"$format\", \"table.kv.format\": \"$kv\", \"table.log.tiered.local-segments\": \"1\"}')");
}

my ($first, $second) = map { sprintf $text, $_ } 1, 2;
$session->value(
	"CREATE TABLE logged AS SELECT i AS id, $first AS txt, NULL::bigint AS extra, i::bigint AS off
	   FROM generate_series(0, $rows - 1) i;
	 CREATE TABLE changed AS SELECT *, 'insert' AS change FROM logged", 120);
$session->value("INSERT INTO $_ (id, txt) SELECT id, txt FROM logged ORDER BY off", 120)
  for sort keys %log;
$session->value("INSERT INTO ${_}_state SELECT id, txt FROM logged ORDER BY off", 120)
  for sort keys %changes;

# ---- and after

for my $name (sort keys %log, map { "${_}_state" } keys %changes)
{
	$session->value("SELECT fluss_add_column('$name', 'extra', 'BIGINT'); SELECT fluss_sync_columns('$name')");
}
$session->value("ALTER FOREIGN TABLE $_ ADD extra bigint") for keys %changes;
$session->value(
	"INSERT INTO logged SELECT i, $second, i * 7::bigint, i
	   FROM generate_series($rows, 2 * $rows - 1) i;
	 CREATE TABLE upserts AS SELECT i AS id, $second AS txt, i * 7::bigint AS extra
	   FROM generate_series(0, $half - 1) i;
	 INSERT INTO changed
	   SELECT o.id, o.txt, NULL, $rows + 2 * o.id, 'update_before' FROM logged o WHERE o.id < $half
	   UNION ALL SELECT id, txt, extra, $rows + 2 * id + 1, 'update_after' FROM upserts", 120);
$session->value("INSERT INTO $_ (id, txt, extra) SELECT id, txt, extra FROM logged WHERE id >= $rows ORDER BY off", 120)
  for sort keys %log;
$session->value("INSERT INTO ${_}_state (id, txt, extra) SELECT id, txt, extra FROM upserts ORDER BY id", 120)
  for sort keys %changes;

wait_until_remote($rows + 1000, sort(keys %log), sort keys %changes);

# ---- what they hold

my $plan = $session->value('EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(txt) FROM log_indexed');
like($plan, qr/Fluss Requests: .*remote read/, 'files are read');

for my $name (sort keys %log)
{
	same_rows('id, txt, extra, off', $name, 'logged', "$name: all");
	for my $range ("off BETWEEN $rows - 100 AND $rows + 99", "off = 5", "off >= 2 * $rows - 10")
	{
		same_rows('id, txt, extra, off', "(SELECT * FROM $name WHERE $range) t",
			"(SELECT * FROM logged WHERE $range) t", "$name: $range");
	}
	is_value($session,
		"SELECT count(*), count(extra), sum(extra), min(extra) FROM $name;
		 SELECT sum(id) FROM $name WHERE extra IS NULL;
		 SELECT count(*) FROM $name WHERE extra > $rows * 7",
		$session->value(
			"SELECT count(*), count(extra), sum(extra), min(extra) FROM logged;
			 SELECT sum(id) FROM logged WHERE extra IS NULL;
			 SELECT count(*) FROM logged WHERE extra > $rows * 7"),
		"$name: the added column alone");
}
for my $name (sort keys %changes)
{
	same_rows('id, txt, extra, off, change', $name, 'changed', "$name: all");
	is_value($session,
		"SELECT change, count(*), count(extra), sum(extra) FROM $name GROUP BY 1 ORDER BY 1",
		$session->value('SELECT change, count(*), count(extra), sum(extra) FROM changed GROUP BY 1 ORDER BY 1'),
		"$name: the added column alone");

	# a snapshot, with changes of both schemas before and after it
	$session->value("ALTER FOREIGN TABLE ${name}_state OPTIONS (ADD kv_scan 'snapshot')");
	same_rows('id, txt, extra', "${name}_state",
		"(SELECT * FROM upserts UNION ALL SELECT id, txt, extra FROM logged WHERE id BETWEEN $half AND $rows - 1) t",
		"$name: the state, from a snapshot");
}

end_test($session, 'remote');
