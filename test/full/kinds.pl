# A million rows by INSERT ... SELECT into every kind of table: what fluss_fdw and
# the Java client then read is what was written.
#
#   FLUSS_FULL_ROWS    how many rows (1000000)
#   FLUSS_FULL_ONLY    a pattern: only these kinds
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../../t/lib", $FindBin::RealBin;
use FlussTest;
use JavaClient;
use Test::More;
use Time::HiRes 'time';

my $rows = $ENV{FLUSS_FULL_ROWS} // 1_000_000;
my $only = $ENV{FLUSS_FULL_ONLY} // '';
my $keys = int($rows * 0.7);
my $patience = 1800;

my ($cluster, $session) = begin_test('full_kinds');
my $database = $ENV{PGDATABASE};

add_good_server($session, 'fluss',
	bootstrap_servers => $cluster->bootstrap,
	request_timeout => '600s',
	remote_files => "$cluster->{dir}/remote");
my $java = JavaClient->new($cluster->bootstrap);
$session->value("SET timezone = 'UTC'; SET work_mem = '1GB'; SET hash_mem_multiplier = 2;
	SET client_min_messages = warning");

# ---- the rows

# Column by column: name, type, value of row i.
my @columns = (
	[ 'id', 'integer', 'i' ],
	[ 'grp', 'text', "'p' || i % 3" ],
	[ 'big', 'bigint', 'i * 1234567890123 % 9007199254740993 - 4503599627370496' ],
	[ 'small', 'smallint', 'i % 1000 - 500' ],
	[ 'v', 'double precision', 'CASE WHEN i % 11 > 0 THEN i / 7.0 - 50000 END' ],
	[ 'r', 'real', 'CASE WHEN i % 13 > 0 THEN i % 100000 / 3.0 END' ],
	[ 'dec', 'numeric(20,4)', 'CASE WHEN i % 17 > 0 THEN i * 12.3456 - 5000000 END' ],
	[ 'flag', 'boolean', 'CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END' ],
	[ 'day', 'date', "date '1960-01-01' + (i % 40000)::integer" ],
	[ 'at', 'timestamp(6)', "timestamp '2026-01-01' + i * interval '1.000001 s'" ],
	[ 'seen', 'timestamptz(3)', "timestamptz '1969-12-01 00:00+00' + i * interval '1.001 s'" ],
	[ 'txt', 'text', q(CASE WHEN i % 10 <> 3 THEN 'row ' || md5(i::text) || repeat('ä', (i % 5)::integer) END) ],
	[ 'bin', 'bytea', q(CASE WHEN i % 19 > 0 THEN decode(left(md5((-i)::text), (i % 17 * 2)::integer), 'hex') END) ],
	[ 'tags', 'integer[]', "CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '{}' ELSE ARRAY[i, NULL, -i] END" ]);
my %type = map { $_->[0] => $_->[1] } @columns;
my @all = map { $_->[0] } @columns;
my $all = join ', ', @all;
$type{seq} = 'bigint';

sub definitions { return join ', ', map { "$_ $type{$_}" } @_; }

# n tells which of two rows of one key came later.
$session->value('CREATE UNLOGGED TABLE source (n bigint, ' . definitions(@all) . ');
	INSERT INTO source SELECT i, ' . join(', ', map { $_->[2] } @columns)
	  . " FROM generate_series(1::bigint, $rows) i; ANALYZE source", $patience);
# keys that come twice, for tables that merge
my $twice = join ', ', map { $_ eq 'id' ? "id % $keys AS id" : $_ } @all;
$session->value("CREATE VIEW twice AS SELECT n, $twice FROM source");

# What is expected of tables: a query over source.
my %expected = (
	source => "SELECT $all FROM source",
	last => "SELECT DISTINCT ON (id) $all FROM twice ORDER BY id, n DESC",
	first => "SELECT DISTINCT ON (id) $all FROM twice ORDER BY id, n",
	# of two versions the higher one
	newest => "SELECT DISTINCT ON (id) $all FROM twice ORDER BY id, big DESC",
	# as Whole.java makes the table, and of no key more than two rows
	merged => "SELECT b.id, b.grp,
		  CASE WHEN a.id IS NULL THEN b.big ELSE a.big + b.big END AS big,
		  greatest(a.small, b.small) AS small, least(a.v, b.v) AS v, coalesce(b.r, a.r) AS r,
		  CASE WHEN a.dec IS NULL THEN b.dec WHEN b.dec IS NULL THEN a.dec ELSE a.dec + b.dec END AS dec,
		  CASE WHEN a.flag IS NULL THEN b.flag WHEN b.flag IS NULL THEN a.flag ELSE a.flag OR b.flag END AS flag,
		  least(a.day, b.day) AS day, CASE WHEN a.id IS NULL THEN b.at ELSE a.at END AS at,
		  greatest(a.seen, b.seen) AS seen, b.txt, coalesce(b.bin, a.bin) AS bin, b.tags
		FROM (SELECT DISTINCT ON (id) * FROM twice ORDER BY id, n DESC) b
		LEFT JOIN (SELECT DISTINCT ON (id) * FROM twice ORDER BY id, n) a ON a.id = b.id AND a.n < b.n");

# The sum that Whole.java makes.
my %text = (
	real => "('x' || encode(float4send(%s), 'hex'))::bit(32)::integer",
	'double precision' => "('x' || encode(float8send(%s), 'hex'))::bit(64)::bigint",
	date => "%s - date '1970-01-01'",
	'timestamp(6)' => '(extract(epoch FROM %s) * 1000000)::bigint',
	'timestamptz(3)' => '(extract(epoch FROM %s) * 1000000)::bigint',
	bytea => "encode(%s, 'hex')");

sub sum_of
{
	my ($query, @names) = @_;
	my $row = join ", '|', ", map {
		'coalesce((' . sprintf($text{ $type{$_} } // '%s', $_) . ")::text, '~')"
	} @names;
	return $session->value(
		"SELECT count(*), coalesce(sum(('x' || left(md5(concat($row)), 10))::bit(40)::bigint), 0)
		 FROM ($query) x", $patience) =~ tr/|/ /r;
}

# ---- the kinds

# Each: arguments of fluss_create_table; from: where the rows come from; of: what
# is expected; make: the kind that only Java makes; columns: not all of them.
my %kinds = (
	'log, ARROW without compression' => {
		arguments => "bucket_key => '{id}'",
		properties => { 'table.log.arrow.compression.type' => 'NONE' } },
	'log, ARROW by LZ4' => {
		arguments => "bucket_key => '{id}'",
		properties => { 'table.log.arrow.compression.type' => 'LZ4_FRAME' } },
	'log, ARROW by ZSTD' => {
		properties => { 'table.log.arrow.compression.type' => 'ZSTD' } },
	'log, INDEXED' => {
		arguments => "bucket_key => '{grp,day}'",
		properties => { 'table.log.format' => 'INDEXED' } },
	'log, COMPACTED' => { properties => { 'table.log.format' => 'COMPACTED' } },
	'log, partitioned' => { arguments => "bucket_key => '{id}', partitioned_by => '{grp}'" },
	'keyed' => { key => 'id' },
	'keyed, rows INDEXED' => { key => 'id', properties => { 'table.kv.format' => 'INDEXED' } },
	'keyed, log COMPACTED' => { key => 'id', properties => { 'table.log.format' => 'COMPACTED' } },
	'keyed, keys that come twice' => { key => 'id', from => 'twice', of => 'last' },
	'keyed, partitioned' => { key => 'id,grp', arguments => "partitioned_by => '{grp}'" },
	'keyed, a prefix chooses the bucket' => { key => 'small,id', arguments => "bucket_key => '{small}'" },
	'keyed, first_row' => {
		key => 'id', from => 'twice', of => 'first',
		properties => { 'table.merge-engine' => 'first_row' } },
	'keyed, versioned' => {
		key => 'id', from => 'twice', of => 'newest',
		properties => { 'table.merge-engine' => 'versioned',
						'table.merge-engine.versioned.ver-column' => 'big' } },
	'keyed, aggregation' => { key => 'id', from => 'twice', of => 'merged', make => 'aggregation' },
	'keyed, auto-increment' => { key => 'id', make => 'auto', columns => [qw(id grp big txt)] });

# A table of so many buckets, checked and dropped.
sub check
{
	my ($kind, $buckets) = @_;
	my %k = (from => 'source', of => 'source', key => '', make => '', columns => \@all, %{ $kinds{$kind} });
	my $name = "$kind, $buckets bucket" . ($buckets > 1 ? 's' : '');
	my ($written, @columns) = (join(', ', @{ $k{columns} }), @{ $k{columns} });
	my $auto = $k{make} eq 'auto';
	my $json = join ', ', map { "\"$_\": \"$k{properties}{$_}\"" } sort keys %{ $k{properties} // {} };

	push @columns, 'seq' if $auto;
	$session->value('CREATE FOREIGN TABLE t (' . definitions(@columns) . ') SERVER fluss');
	if ($k{make}) { $java->ask("make $k{make} $database t $buckets") }
	else
	{
		$session->value("SELECT fluss_create_table('t', bucket_count => $buckets"
			  . ($k{key} && ", primary_key => '{$k{key}}'")
			  . ($k{arguments} ? ", $k{arguments}" : '')
			  . ($json && ", properties => '{$json}'") . ')');
	}
	my $sent = $session->run(
		"INSERT INTO t ($written) SELECT $written FROM $k{from} ORDER BY n", $patience);
	my $count = $session->value('SELECT sum(rows) FROM fluss_last_write()');
	is("$sent->{err}$count", $rows, sprintf '%s: %d rows written in %.1f s, %.0f a second',
		$name, $count, $sent->{seconds}, $count / $sent->{seconds});

	my $expected = $expected{ $k{of} };
	if ($auto)
	{
		$session->value("CREATE UNLOGGED TABLE numbered AS
			SELECT s.id, s.grp, s.big, s.txt, t.seq FROM source s JOIN t USING (id)", $patience);
		is_value($session, 'SELECT count(DISTINCT seq) FROM numbered', $rows,
			"$name: as many different numbers");
		$expected = 'SELECT id, grp, big, txt, seq FROM numbered';
	}
	my $began = time;
	$session->value('CREATE UNLOGGED TABLE got AS SELECT ' . join(', ', @columns) . ' FROM t', $patience);
	my $missing = $session->value("SELECT count(*) FROM (($expected) EXCEPT ALL TABLE got) x", $patience);
	my $extra = $session->value("SELECT count(*) FROM (TABLE got EXCEPT ALL ($expected)) x", $patience);
	is("$missing $extra", '0 0', sprintf '%s: read by fluss_fdw, %d rows are missing, %d extra (%.1f s)',
		$name, $missing, $extra, time - $began);

	my $sum = sum_of($expected, @columns) . ' 0';
	for my $what ('log', $k{key} ? 'state' : ())
	{
		$began = time;
		my $answer = $java->ask("$what $database t");
		is($answer, $sum, sprintf '%s: %s read by Java, rows, sum, misplaced: %s (%.1f s)',
			$name, $what, $answer, time - $began);
	}
	$session->value('SELECT fluss_drop_table(\'t\'); DROP FOREIGN TABLE t; DROP TABLE got; DROP TABLE IF EXISTS numbered');
	return;
}

for my $kind (sort grep { /$only/ } keys %kinds)
{
	check($kind, $_) for 1, 3;
}
$java->close;
end_test($session, 'fluss');
