# Random INSERT, UPDATE and DELETE of primary key tables of every layout, and the
# same of a heap table, where INSERT says what Fluss does by itself: the tables stay
# equal.
#
#   FLUSS_WRITE_STATEMENTS    how many for each table
#   SEED                      of the generator
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;

my $statements = $ENV{FLUSS_WRITE_STATEMENTS} // 60;
my $seed = $ENV{SEED} // 1;
my $at_once = 10;

my ($cluster, $session) = begin_test('random_writes');
# small batches, so that statements send while they read
add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	writer_batch_size => '1kB');
srand $seed;

my %types = (
	n => 'integer',
	t => 'text',
	d => 'numeric(12,3)',
	ts => 'timestamp(6)',
	list => 'integer[]',
	pair => 'jsonb');
my %values = (
	n => [ -2147483648, 2147483647, -20 .. 20 ],
	t => [ q('') , q('a'), q('ÄÖ'), q('quo''te'), q(repeat('long', 50)) ],
	d => [ 0, 1.5, -999999999.999, 999999999.999, 0.001, -77.125 ],
	ts => [ map { "timestamp '$_'" } '1969-12-31 23:59:59.999999', '2026-08-04 09:15:00.5',
		'0001-01-01', '9999-12-31 23:59:59.999999' ],
	list => [ map { "'$_'::integer[]" } '{}', '{1,NULL,3}', '{-2147483648}' ],
	pair => [ map { "jsonb '$_'" } '{"x": 1, "y": "é"}', '{"x": null, "y": null}', '{"x": -5, "y": ""}' ]);
my @columns = sort keys %types;
my @parts = qw(p0 p1 p2);

sub any { return $_[ rand @_ ]; }
sub key { return 1 + int rand 30; }
sub part { return "'" . any(@parts) . "'"; }

sub some_columns
{
	my ($least) = @_;
	my @chosen = grep { rand() < 0.4 } @columns;
	return @chosen >= $least ? @chosen : any(@columns);
}

sub any_value
{
	my ($column) = @_;
	return rand() < 0.15 ? 'NULL' : any(@{ $values{$column} });
}

# T is the table, in all that follows.
sub condition
{
	return any(
		'T.a = ' . key(),
		'T.a = ' . key() . ' AND T.b = ' . part(),
		'T.a IN (' . key() . ', ' . key() . ') AND T.b IN (' . part() . ', ' . part() . ')',
		'(T.a, T.b) = (' . key() . ', ' . part() . ')',
		'T.n > ' . (int(rand 20) - 10),
		'T.n IS NULL',
		'T.a % ' . (2 + int rand 6) . ' = 0',
		'T.b = ' . part(),
		q(T.t LIKE 'l%' OR T.d < 0));
}

sub assignments
{
	my %own = (
		n => '(coalesce(T.n, 0)::bigint * 3 + T.a) % 1000',
		t => q(left(coalesce(T.t, 'z') || T.a, 40)),
		d => 'CASE WHEN abs(T.d) < 1000 THEN T.d * 2 END');
	return join ', ',
	  map { "$_ = " . ($own{$_} && rand() < 0.5 ? $own{$_} : any_value($_)) } some_columns(1);
}

# The statement, and what makes a heap table do the same.
sub insert
{
	my @chosen = rand() < 0.1 ? () : some_columns(1);
	my %keys = map { (key() . ', ' . part() => 1) } 1 .. any(1, 1, 2, 5, 20);
	my $rows = join ', ', map {
		my $key = $_;
		"($key" . join('', map { ', ' . any_value($_) } @chosen) . ')'
	} sort keys %keys;
	return (
		'INSERT INTO T (' . join(', ', 'a', 'b', @chosen) . ") VALUES $rows",
		@chosen
		? ' ON CONFLICT (a, b) DO UPDATE SET ' . join(', ', map { "$_ = EXCLUDED.$_" } @chosen)
		: ' ON CONFLICT DO NOTHING');
}

sub statement
{
	my $kind = rand;

	return insert() if $kind < 0.45;
	return 'UPDATE T SET ' . assignments() . ' WHERE ' . condition() if $kind < 0.65;
	return 'UPDATE T SET ' . assignments()
	  . ' FROM (VALUES (' . key() . '), (' . key() . ')) v (x) WHERE T.a = v.x'
	  if $kind < 0.72;
	return 'DELETE FROM T WHERE ' . condition() if $kind < 0.82;
	return 'DELETE FROM T USING T u WHERE T.a = u.a + ' . (1 + int rand 5) . ' AND T.b = u.b AND u.n > 0'
	  if $kind < 0.87;
	return (
		'INSERT INTO T SELECT a % 30 + 1, b, ' . join(', ', @columns) . ' FROM T WHERE ' . condition(),
		' ON CONFLICT (a, b) DO UPDATE SET ' . join(', ', map { "$_ = EXCLUDED.$_" } @columns))
	  if $kind < 0.95;
	return 'WITH gone AS (DELETE FROM T WHERE T.a = ' . key() . ' RETURNING *)'
	  . q( UPDATE T SET t = 'from ' || gone.a FROM gone WHERE T.a = gone.a % 30 + 1 AND T.b = gone.b);
}

sub on_both
{
	my ($sql, $more) = @_;
	my $fluss = $sql =~ s/\bT\b/fluss/gr;
	my $heap = $sql =~ s/\bT\b/heap/gr;
	return ("$fluss;", $heap . ($more // '') . ';');
}

# Rows that wait for the commit, and a savepoint that drops some of them.
sub transaction
{
	return (
		q(ALTER FOREIGN TABLE fluss OPTIONS (ADD write_mode 'commit');), 'BEGIN;',
		on_both(insert()), 'SAVEPOINT s;', on_both(insert()),
		any('ROLLBACK TO s;', 'RELEASE s;'),
		on_both(insert()), any('COMMIT;', 'COMMIT;', 'ROLLBACK;'),
		'ALTER FOREIGN TABLE fluss OPTIONS (DROP write_mode);');
}

sub test_table
{
	my ($name, $arguments) = @_;
	my $list = join ', ', map { "$_ $types{$_}" } @columns;
	my $remote = $list =~ s/jsonb/jsonb OPTIONS (fluss_type 'ROW<x INT, y STRING>')/r;
	my ($errors, $differences, $written) = ('', 0, 0);

	$session->value(
		"DROP FOREIGN TABLE IF EXISTS fluss; DROP TABLE IF EXISTS heap;
		 CREATE FOREIGN TABLE fluss (a integer NOT NULL, b text NOT NULL, $remote)
		   SERVER good OPTIONS (table_name '$name');
		 SELECT fluss_create_table('fluss', primary_key => '{a,b}', bucket_count => 3, $arguments);
		 CREATE TABLE heap (a integer, b text, $list, PRIMARY KEY (a, b))");
	while ($written < $statements && !$errors && !$differences)
	{
		my @script = map { rand() < 0.03 ? transaction() : on_both(statement()) } 1 .. $at_once;

		$errors = $session->run(join "\n", @script)->{err};
		$differences = $session->value(
			'SELECT count(*) FROM ((TABLE fluss EXCEPT ALL TABLE heap) UNION ALL (TABLE heap EXCEPT ALL TABLE fluss)) x');
		diag("SEED=$seed, $name, after:\n", join "\n", @script) if $errors || $differences;
		$written += $at_once;
	}
	is($errors, '', "$name: no statement fails");
	is($differences, 0, "$name: it equals the heap table");
	note "$name: ", $session->value('SELECT count(*) FROM heap'), ' rows at last';
	return;
}

test_table('plain', 'if_not_exists => false');
test_table('prefix', "bucket_key => '{a}'");
test_table('indexed', q(properties => '{"table.kv.format": "indexed"}'));
test_table('wal', q(properties => '{"table.changelog.image": "wal"}'));
test_table('parted', "partitioned_by => '{b}'");

end_test($session, 'good');
