# Reads by KV snapshot of every kind of primary key table: what they give is
# what limit scans and heap tables give, from snapshots alone and with changes
# since; and some of them from S3.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes qw(sleep time);

my (undef, $session) = begin_test('snapshot_tables');

plan skip_all => 'the extension was built without librocksdb'
  unless reads_snapshots();

my @often = ('--set' => 'kv.snapshot.interval=3s');
my $files = FlussCluster->start('snapshot-tables', @often);
add_good_server($session, 'files',
	bootstrap_servers => $files->bootstrap,
	remote_files => "$files->{dir}/remote");

# Each table: columns; arguments of fluss_create_table; the columns and the
# rows i of a first and a second INSERT; other changes.  A heap table gets the
# same, by ON CONFLICT, unless the table does something else with a row that is
# there: then "expected" is its content.
my $plain = 'id integer, v bigint, s text';
my $first = "i, i * 7, 'row ' || i";
my $second = "i * 3, -i, CASE WHEN i % 5 > 0 THEN 'new ' || i END";
my %tables = (
	compacted => {},
	indexed => { properties => { 'table.kv.format' => 'INDEXED' } },
	compacted_log => { properties => { 'table.log.format' => 'COMPACTED' } },
	wal => { properties => { 'table.changelog.image' => 'WAL' } },
	old_version => { properties => { 'table.kv.format-version' => '1' } },
	few => { arguments => 'bucket_count => 16', count => 3 },
	untouched => { count => 0 },
	emptied => { late => 'DELETE FROM %s' },
	emptied_early => { early => 'DELETE FROM %s' },
	deleted => { early => 'DELETE FROM %s WHERE id % 4 = 0',
				 late => 'DELETE FROM %s WHERE id % 4 IN (1, 2)' },
	first_row => { properties => { 'table.merge-engine' => 'first_row' },
				   conflict => 'DO NOTHING' },
	versioned => {
		properties => { 'table.merge-engine' => 'versioned',
						'table.merge-engine.versioned.ver-column' => 'v' },
		conflict => 'DO UPDATE SET (v, s) = (excluded.v, excluded.s) WHERE excluded.v >= h.v' },
	aggregated => {
		properties => { 'table.merge-engine' => 'aggregation' },
		columns => "id integer, v bigint, s text",
		conflict => 'DO UPDATE SET v = coalesce(excluded.v, h.v), s = coalesce(excluded.s, h.s)' },
	two_keys => {
		columns => 'a text, v bigint, b timestamp(3), c smallint, s text',
		key => 'a,b,c', arguments => "bucket_count => 3, bucket_key => '{c,a}'",
		first => "'k' || i, i, timestamp '2026-01-01' + i * interval '1 min', i % 7, 'x' || i",
		second => "'k' || i * 3, -i, timestamp '2026-01-01' + i * 3 * interval '1 min', (i * 3) % 7, NULL" },
	partitioned => {
		columns => 'id integer, v bigint, region text, s text, day integer',
		key => 'id,region,day',
		arguments => "bucket_count => 2, partitioned_by => '{region,day}'",
		first => "i, i, 'r' || i % 3, 'row ' || i, 7 + i % 2",
		second => "i * 3, -i, 'r' || (i * 3) % 4, NULL, 7 + i * 3 % 2" },
	nested => {
		columns => "id integer, v integer[],
			m jsonb OPTIONS (fluss_type 'MAP<STRING, INT>'),
			r jsonb OPTIONS (fluss_type 'ROW<a INT, b ARRAY<STRING>>')",
		first => q(i, ARRAY[i, NULL, -i], jsonb_build_object('k', i, 'n', NULL),
			jsonb_build_object('a', i, 'b', jsonb_build_array('x' || i, NULL))),
		second => q(i * 3, CASE WHEN i % 2 = 0 THEN ARRAY[i] END, jsonb_build_object('m', i),
			CASE WHEN i % 3 > 0 THEN jsonb_build_object('a', NULL, 'b', '[]'::jsonb) END) },
	types => {
		columns => 'id integer, a boolean, b smallint, d numeric(38, 10), e real, f double precision,
			g bytea, h date, j time(3), k timestamp(6), l timestamptz(3), m varchar(5)',
		first => q(i, i % 2 = 0, i % 100, i * 1234567890.0123456789, i / 3.0, i / 7.0,
			decode(md5(i::text), 'hex'), date '2000-01-01' + i, time '00:00' + i * interval '1.5 s',
			timestamp '1960-01-01' + i * interval '1.000001 s', timestamptz '2026-01-01 UTC' + i * interval '1 h',
			left('ä' || i, 5)),
		second => 'i * 3, NULL, -1, -0.0000000001, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL' },
	evolved => { added => 1 });
my @names = sort keys %tables;
my $count = 300;

# Makes a table, again as one for limit scans, and its heap table.
sub make_table
{
	my ($server, $name) = @_;
	my $t = $tables{$name};
	my $key = $t->{key} // 'id';
	my $properties = $t->{properties} // {};
	my $json = join ', ', map { "\"$_\": \"$properties->{$_}\"" } sort keys %$properties;

	$t->{columns} //= $plain;
	$t->{count} //= $count;
	(my $heap = $t->{columns}) =~ s/ OPTIONS \(.*?\)(?=,|$)//gm;
	$session->value(
		"CREATE FOREIGN TABLE $name ($t->{columns}) SERVER $server OPTIONS (kv_scan 'snapshot');
		 CREATE FOREIGN TABLE l_$name ($t->{columns}) SERVER $server
		   OPTIONS (table_name '$name', kv_scan 'limit_scan');
		 CREATE TABLE h_$name ($heap, PRIMARY KEY ($key));
		 SELECT fluss_create_table('$name', primary_key => '{$key}', "
		  . ($t->{arguments} // 'bucket_count => 2')
		  . ($json && ", properties => '{$json}'") . ')');
	return;
}

# The rows into the table, and into its heap table.
sub insert
{
	my ($name, $rows) = @_;
	my $t = $tables{$name};
	my $set = '';

	return unless $t->{count} > 0;
	$session->value("INSERT INTO $name SELECT $rows FROM generate_series(1, $t->{count}) i");
	my $columns = $session->value(
		"SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute
		 WHERE attrelid = 'h_$name'::regclass AND attnum > 0");
	(my $new = $columns) =~ s/(\w+)/excluded.$1/g;
	$session->value("INSERT INTO h_$name AS h SELECT $rows FROM generate_series(1, $t->{count}) i
		ON CONFLICT (" . ($t->{key} // 'id') . ') '
		  . ($t->{conflict} // "DO UPDATE SET ($columns) = ($new)"));
	return;
}

sub change
{
	my ($name, $sql) = @_;

	return unless $sql;
	$session->value($sql =~ s/%s/$_/r) for $name, "h_$name";
	return;
}

sub plan_of
{
	my ($sql) = @_;
	return $session->value("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) $sql");
}

sub requests
{
	my ($kind, $sql) = @_;
	return plan_of($sql) =~ /Fluss Requests: .*\b$kind (\d+)/ ? $1 : 0;
}

# Until snapshots hold all that was written: then no change is read.
sub await_snapshots
{
	my ($name) = @_;
	my $end = time + 60;

	sleep 0.3 while time < $end && plan_of("SELECT * FROM $name") =~ /Fluss Batches/;
	return time < $end;
}

sub check
{
	my ($name, $when) = @_;
	my $differences = join ' + ',
	  map { "(SELECT count(*) FROM (TABLE $_->[0] EXCEPT ALL TABLE $_->[1]) x)" }
	  map { ([ $_, "h_$name" ], [ "h_$name", $_ ]) } qw(by_snapshot by_limit);

	is_value($session,
		"CREATE TEMP TABLE by_snapshot AS TABLE $name;
		 CREATE TEMP TABLE by_limit AS TABLE l_$name;
		 SELECT $differences; DROP TABLE by_snapshot, by_limit", '0', "$name, $when");
	return;
}

make_table('files', $_) for @names;
insert($_, $tables{$_}{first} // $first) for @names;
change($_, $tables{$_}{early}) for @names;
check($_, 'from the changelog or snapshots') for @names;
for my $name (@names)
{
	ok(await_snapshots($name), "$name has snapshots");
	check($name, 'from snapshots alone');
}
is(requests('snapshot', 'SELECT * FROM compacted'), 8,
	'a snapshot takes four requests: to find, lease, list and release it');
is(requests('snapshot', 'SELECT * FROM untouched'), 2,
	'one that is not there takes one');

# Only what is needed: a bucket, a partition, some columns, no column.
is(requests('snapshot', "SELECT * FROM partitioned WHERE region = 'r1' AND day = 7"),
	8, 'partitions are pruned');
is_value($session,
	"SELECT count(*), sum(v), min(region) FROM partitioned WHERE region = 'r1' AND day = 7",
	$session->value("SELECT count(*), sum(v), min(region) FROM h_partitioned WHERE region = 'r1' AND day = 7"),
	'and the rest is right');
is_value($session, 'SELECT count(*) FROM nested', $count, 'no column');
is_value($session, 'SELECT r FROM nested WHERE v[1] = 5 AND id > 0', '{"a": 5, "b": ["x5", null]}',
	'some columns');

# A schema that has grown: rows of the snapshot and of the changelog, old and new.
for my $name ('evolved', 'indexed', 'nested')
{
	my $columns = $tables{$name}{columns};

	$session->value(
		"SELECT fluss_add_column('$name', 'extra', 'STRING');
		 ALTER FOREIGN TABLE l_$name ADD COLUMN extra text;
		 ALTER TABLE h_$name ADD COLUMN extra text");
	$session->value("ALTER FOREIGN TABLE $name ADD COLUMN IF NOT EXISTS extra text");
	check($name, 'with a column that no row has');
	insert($name, ($tables{$name}{first} // $first) =~ s/^i,/i * 2,/r . ", 'extra ' || i");
	check($name, 'with a column that some rows have');
	ok(await_snapshots($name), "$name has new snapshots");
	check($name, 'with rows of two schemas in one snapshot');
	$tables{$name}{second} = ($tables{$name}{second} // $second) . ', NULL';
}

# Changes since: read at once, before there are new snapshots, and after.
insert($_, $tables{$_}{second} // $second) for @names;
change($_, $tables{$_}{late}) for @names;
check($_, 'with changes since') for @names;
for my $name (@names)
{
	ok(await_snapshots($name), "$name has new snapshots");
	check($name, 'from new snapshots');
}

# A partition that is dropped leaves no rows behind.
$session->value(q(SELECT fluss_drop_partition('partitioned', '{"region": "r1", "day": "8"}')));
$session->value("DELETE FROM h_partitioned WHERE region = 'r1' AND day = 8");
check('partitioned', 'without a dropped partition');

# ---- from S3

$session->value("SELECT fluss_drop_database('files', '$ENV{PGDATABASE}', cascade => true)");
$files->end;
my $s3 = FlussCluster->start('snapshot-s3', '--s3', @often);
add_good_server($session, 's3', bootstrap_servers => $s3->bootstrap);
for my $name (qw(types partitioned))
{
	$session->value("DROP FOREIGN TABLE $name, l_$name; DROP TABLE h_$name");
	make_table('s3', $name);
	insert($name, $tables{$name}{first});
}
for my $name (qw(types partitioned))
{
	ok(await_snapshots($name), "$name has snapshots in S3");
	check($name, 'from S3');
	insert($name, $tables{$name}{second});
	check($name, 'from S3, with changes since');
}

end_test($session, 's3');
