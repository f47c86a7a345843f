# Three replicas, and statement after statement while a tablet server is killed
# and comes back every so often: every acknowledged row is there once, and every
# statement ends in success or one clear error.
#
#   FLUSS_FAULT_STATEMENTS    how many for each kind of table (1000 is a full test)
#   FLUSS_FAULT_EVERY         one kill in so many
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes 'time';

my $statements = $ENV{FLUSS_FAULT_STATEMENTS} // 8;
my $every = $ENV{FLUSS_FAULT_EVERY} // 4;
my $rows = 1000;

my (undef, $session) = begin_test('write_faults');
my $cluster = FlussCluster->start('faults', '--tablets', 3,
	'--set', 'default.replication.factor=3');
add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	request_timeout => '60s',
	writer_batch_size => '4kB',
	# whole reads of a large primary key table
	remote_files => "$ENV{FLUSS_CLUSTER_DIR}-faults/remote");
$session->value(
	"CREATE FOREIGN TABLE log (statement integer, id integer, note text) SERVER good;
	 SELECT fluss_create_table('log', bucket_key => '{id}', bucket_count => 3);
	 CREATE FOREIGN TABLE keyed (statement integer, id integer, note text) SERVER good;
	 SELECT fluss_create_table('keyed', primary_key => '{statement,id}', bucket_key => '{id}',
	   bucket_count => 3)");

my (%failed, @unclear, @dead);
my $killed = 0;

# One is killed in the middle of a statement; it comes back, a while later, in the
# middle of another.
sub disturb
{
	my ($statement) = @_;

	if (@dead && $statement % $every == int($every / 2))
	{
		$cluster->start_tablet(shift @dead);
	}
	elsif (!@dead && $statement % $every == 0)
	{
		push @dead, $killed++ % 3;
		$cluster->kill_tablet($dead[-1]);
	}
	return;
}

for my $statement (1 .. $statements)
{
	for my $table (qw(log keyed))
	{
		my $running = $session->send(
			"INSERT INTO $table SELECT $statement, g, md5(g::text) FROM generate_series(1, $rows) g"
		);
		disturb($statement) if $table eq ($statement / $every % 2 ? 'log' : 'keyed');
		my $result = $running->finish(150);
		next unless $result->{errors} || $result->{seconds} > 10;
		note sprintf 'statement %d, %s: %.1f s %s', $statement, $table,
		  $result->{seconds}, $result->{err};
		next unless $result->{errors};
		$failed{$table}{$statement} = 1;
		push @unclear, $result->{err}
		  if $result->{errors} != 1 || $result->{sqlstate} !~ /^HV0/;
	}
}
$cluster->start_tablet($_) for @dead;
note sprintf '%d statements of %d rows for each table, %d kills', $statements,
  $rows, $killed;
is("@unclear", '', 'every failure is one clear error');
for my $table (qw(log keyed))
{
	my @lost = keys %{ $failed{$table} };
	my $list = join ',', 0, @lost;

	note sprintf '%s: %d failed', $table, scalar @lost;
	is_value(
		$session,
		"SELECT count(*), count(DISTINCT (statement, id)) FROM $table WHERE statement NOT IN ($list)",
		join('|', ($rows * ($statements - @lost)) x 2),
		"$table: what was acknowledged is there once");
	is_value(
		$session,
		"SELECT count(*) - count(DISTINCT (statement, id)) FROM $table",
		0, "$table: nothing is there twice");
	is_value($session, "INSERT INTO $table VALUES (-1, 1)", '', "$table: the next INSERT works");
}

end_test($session, 'good');
