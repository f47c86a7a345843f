# The answers to writes get lost on the way, come late or broken: every statement
# ends in success or one clear error; no row of a successful one is missing, and
# none is there twice.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussProxy;
use FlussTest;
use Test::More;

my $statements = $ENV{FLUSS_FAULT_STATEMENTS} // 2;
my $rows = 2000;

my ($cluster, $session) = begin_test('lost_answers');
my $proxy = FlussProxy->start($cluster->tablet_addresses);
# small batches, so that several of a bucket are on their way
my %options = (
	bootstrap_servers => $cluster->bootstrap,
	writer_batch_size => '2kB');
add_good_server($session, 'good', %options);
add_server(
	$session, 'bad', %options,
	address_map => $proxy->map,
	request_timeout => '8s');
add_server(
	$session, 'plain', %options,
	address_map => $proxy->map,
	request_timeout => '4s',
	writer_enable_idempotence => 'off');

# Makes a table and shows it through the server with the proxy and without.
sub make_table
{
	my ($name, $server, $arguments) = @_;

	$session->value(
		"CREATE FOREIGN TABLE $name (statement integer, id integer, note text,
		   _bucket integer OPTIONS (metadata 'bucket'),
		   _log_offset bigint OPTIONS (metadata 'log_offset')) SERVER good;
		 SELECT fluss_create_table('$name', $arguments);
		 CREATE FOREIGN TABLE bad_$name (statement integer, id integer, note text)
		   SERVER $server OPTIONS (table_name '$name')");
	return;
}

# Writes so many statements to the table while the proxy obeys the orders. Returns
# how many failed.
sub write_through
{
	my ($table, %orders) = @_;
	my %failed;
	my $unclear = 0;
	my $slowest = 0;

	my %before = $proxy->counts;
	$proxy->set(%orders);
	for my $statement (1 .. $statements)
	{
		my $result = $session->run(
			"INSERT INTO bad_$table SELECT $statement, $statement * $rows + g, repeat('x', 20)
			   FROM generate_series(1, $rows) g");
		$slowest = $result->{seconds} if $result->{seconds} > $slowest;
		next unless $result->{errors};
		$failed{$statement} = 1;
		$unclear++
		  if $result->{errors} != 1 || $result->{sqlstate} !~ /^HV0/;
		note "statement $statement: $result->{err}";
	}
	$proxy->set;
	my %after = $proxy->counts;
	note sprintf '%s: %d of %d failed, slowest %.1f s, answers: %s', $table,
	  scalar keys %failed, $statements, $slowest,
	  join ', ', map { "$_ " . ($after{$_} - ($before{$_} // 0)) } sort keys %after;
	my $mistreated = 0;
	$mistreated += $after{$_} - ($before{$_} // 0) for keys %after;
	cmp_ok($mistreated, '>', 0, "$table: answers were mistreated");
	is($unclear, 0, "$table: every failure is one clear error");
	my $list = join ',', 0, keys %failed;
	is_value(
		$session,
		"SELECT count(*), count(DISTINCT id) FROM $table WHERE statement NOT IN ($list)",
		join('|', ($rows * ($statements - keys %failed)) x 2),
		"$table: what was written is there once");
	is_value(
		$session,
		"SELECT count(*) - count(DISTINCT id) FROM $table",
		0, "$table: nothing is there twice");
	return scalar keys %failed;
}

my $log = 'bucket_count => 2';
my $keyed = q(primary_key => '{statement,id}', bucket_key => '{id}', bucket_count => 2);

for my $case (
	[ 'log_lose', $log, lose => 0.1 ],
	[ 'log_mixed', $log, lose => 0.05, tear => 0.05, delay => 0.3, delay_ms => 30 ],
	[ 'log_swallow', $log, swallow => 0.05 ],
	[ 'keyed_lose', $keyed, lose => 0.1 ],
	[ 'keyed_mixed', $keyed, tear => 0.05, swallow => 0.03, delay => 0.3, delay_ms => 30 ],
  )
{
	my ($table, $arguments, %orders) = @$case;

	make_table($table, 'bad', $arguments);
	is(write_through($table, %orders, seed => 7), 0, "$table: nothing fails");
}

# Without sequence numbers a batch whose answer is lost is written again.
make_table('plain_lose', 'plain', $log);
$proxy->set(lose => 0.1, seed => 7);
$session->value(
	"INSERT INTO bad_plain_lose SELECT 1, g, 'x' FROM generate_series(1, $rows) g");
is_value($session, 'SELECT count(DISTINCT id) FROM plain_lose',
	$rows, 'without idempotence nothing is lost');

# When no answers come any more, the error tells what was acknowledged.
make_table('log_part', 'bad', q(bucket_key => '{id}', bucket_count => 2));
$proxy->set;
$session->send(
	"INSERT INTO bad_log_part SELECT 1, g, repeat('x', 20)
	   FROM (SELECT generate_series(1, 4000) AS g, pg_sleep(0.0005)) x");
$session->ready(1);
$proxy->set(lose => 1);
my $result = $session->finish;
is_error($result, 'HV00L', 'a writer without answers fails');
my %acknowledged;
$acknowledged{$2} = $1 while $result->{err} =~ /(\d+) of bucket (\d)/g;
is(join(',', sort keys %acknowledged), '0,1', 'and tells the rows of each bucket')
  or diag $result->{err};
my %there = map { split /\|/ } split /\n/,
  $session->value('SELECT _bucket, count(*) FROM log_part GROUP BY 1');
cmp_ok($there{$_} // 0, '>=', $acknowledged{$_} // 0, "which are there, in bucket $_") for 0, 1;
cmp_ok($acknowledged{0} + $acknowledged{1}, '>', 0, 'some were acknowledged');
is_value(
	$session,
	'SELECT count(*) - count(DISTINCT id) FROM log_part',
	0, 'none of them twice');
$proxy->set;
is_value($session, 'INSERT INTO bad_log_part VALUES (2, -1)', '', 'the next INSERT works');

end_test($session, 'good');
