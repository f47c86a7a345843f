# Cancel, statement_timeout and termination end every wait within a second, and
# the next statement works; a long scan reacts to a cancel within a blink and
# stays small.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use IO::Socket::INET;
use List::Util qw(max);
use Test::More;
use Time::HiRes qw(sleep time);

my ($cluster, $session) = begin_test('cancel');
my $other = FlussSession->new;

add_good_server($session, 'good',
	bootstrap_servers => $cluster->bootstrap,
	connect_timeout => '10s');
add_readings($session, 'good', $_, 1000) for qw(readings unseen sink);
add_info($session, 'good', 'info', 100);

# ---- waits

my $count = 'SELECT count(*) FROM readings';
my %waits = (
	connect => { sql => $count, result => 1000 },
	metadata => {
		warm => $count,
		sql => 'SELECT count(*) FROM unseen',
		result => 1000
	},
	fetch => { warm => $count, sql => $count, result => 1000 },
	lookup => {
		warm => 'SELECT name FROM info WHERE sensor_id = 1',
		sql => 'SELECT name FROM info WHERE sensor_id = 2',
		result => 'sensor 2'
	},
	flush => {
		warm => 'INSERT INTO sink (sensor_id) VALUES (1)',
		sql => 'INSERT INTO sink (sensor_id) VALUES (2)',
		result => ''
	});

for my $wait (qw(connect metadata fetch lookup flush))
{
	my ($warm, $sql, $result) = @{ $waits{$wait} }{qw(warm sql result)};

	for my $way (ways_to_end())
	{
		my $waiting = FlussSession->new;
		$waiting->value($warm) if $warm;
		$waiting->value("SET statement_timeout = '300ms'")
		  if $way eq 'statement_timeout';

		$cluster->freeze;
		$waiting->send($sql);
		my $answer = wait_ends($waiting, $other, $way, $wait);
		$cluster->thaw;

		$waiting = FlussSession->new if $answer->{closed};
		$waiting->value('RESET statement_timeout');
		is_value($waiting, $sql, $result, "$wait: the next statement works");
	}
}

# what ended in the middle of a flush may or may not have been written, once
my $rows = $session->value('SELECT count(*) FROM sink WHERE sensor_id = 2 AND temperature_c IS NULL');
ok($rows >= 3 && $rows <= 6, 'no row was written twice') or diag($rows);

# without any of them, request_timeout ends it, once for planning and execution
{
	my $hasty = FlussSession->new;
	add_server($session, 'hasty',
		bootstrap_servers => $cluster->bootstrap,
		connect_timeout => '1s',
		request_timeout => '1s');
	$session->value(
		"CREATE FOREIGN TABLE hasty_$_ (sensor_id integer, temperature_c double precision)
		   SERVER hasty OPTIONS (table_name '$_')") for qw(readings unseen sink);
	$session->value(
		"CREATE FOREIGN TABLE hasty_info (sensor_id integer, name text)
		   SERVER hasty OPTIONS (table_name 'info')");
	for my $wait (qw(connect metadata fetch lookup flush))
	{
		my ($warm, $sql, $result) = @{ $waits{$wait} }{qw(warm sql result)};

		s/(readings|unseen|sink|info)/hasty_$1/ for grep { defined } $warm, $sql;
		$hasty = FlussSession->new;
		$hasty->value($warm) if $warm;
		$cluster->freeze;
		my $answer = $hasty->run($sql);
		$cluster->thaw;
		like($answer->{sqlstate}, qr/^HV00[NL]$/, "$wait ends by request_timeout")
		  or diag($answer->{err});
		is($answer->{errors}, 1, "$wait ends by one error");
		cmp_ok($answer->{seconds}, '<', 1.5, "$wait ends in time");
		is_value($hasty, $sql, $result, "$wait: the next statement works");
	}

	# nor does the row count that planning asks for add its own wait
	$hasty = FlussSession->new;
	$hasty->value("SELECT count(*) FROM fluss_buckets('hasty_info')");
	$cluster->freeze;
	my $answer = $hasty->run('SELECT name FROM hasty_info WHERE sensor_id = 1');
	$cluster->thaw;
	like($answer->{sqlstate}, qr/^HV00[NL]$/, 'a row count in vain ends it')
	  or diag($answer->{err});
	cmp_ok($answer->{seconds}, '<', 1.5, 'a row count in vain ends it in time');
}

# a connection that the kernel does not even accept
{
	my $full = listening_socket(1);
	my @queued = map {
		IO::Socket::INET->new(
			PeerAddr => '127.0.0.1',
			PeerPort => $full->sockport,
			Blocking => 0)
	} 1 .. 4;
	sleep 0.2;
	add_server($session, 'blackhole',
		bootstrap_servers => '127.0.0.1:' . $full->sockport,
		connect_timeout => '10s');
	$session->value('CREATE FOREIGN TABLE lost (id integer) SERVER blackhole');
	my $waiting = FlussSession->new;
	$waiting->send('SELECT * FROM lost');
	ok(!$waiting->ready(0.5), 'a connect that is not accepted waits');
	$other->value("SELECT pg_cancel_backend($waiting->{pid})");
	my $start = time;
	is_error($waiting->finish, '57014', 'it ends by pg_cancel_backend');
	cmp_ok(time - $start, '<', 1, 'within a second');
	is_value($waiting, $count, 1000, 'and the next statement works');
}

# ---- a scan of five million rows

my $million5 = 5_000_000;
add_readings($session, 'good', 'many', $million5);
my $sum = 'SELECT count(*), sum(temperature_c) FROM many';
my $expected = "$million5|12499997500000";

my $scanning = FlussSession->new;
$scanning->value($count);
my $largest = 0;
$scanning->send($sum);
$largest = max($largest, rss_anon_kb($scanning->pid))
  until $scanning->ready(0.01);
my $answer = $scanning->finish;
my $whole = $answer->{seconds};
is($answer->{out} . $answer->{err}, $expected, 'the whole scan is right');
cmp_ok($largest, '<', 200 * 1024, 'it needs less than 200 MB of memory');
note(sprintf 'the scan took %.2f s and %d MB', $whole, $largest / 1024);

srand 4711;
my (@latencies, $wrong);
for (1 .. 100)
{
	last if @latencies == 20;
	$scanning->send($sum);
	my $early = $scanning->ready(rand($whole * 0.9));
	my $start = time;
	$other->value("SELECT pg_cancel_backend($scanning->{pid})") unless $early;
	$answer = $scanning->finish;
	# the scan may have been faster than the cancel
	next if $early || !$answer->{errors};
	push @latencies, time - $start;
	$wrong //= $answer->{err} if $answer->{sqlstate} ne '57014';
}
is($wrong, undef, 'every cancel is reported as such');
@latencies = sort { $a <=> $b } @latencies;
is(scalar @latencies, 20, 'twenty scans were canceled');
note(
	sprintf 'latency of a cancel: median %.0f ms, longest %.0f ms',
	$latencies[10] * 1000,
	$latencies[-1] * 1000);
cmp_ok($latencies[10], '<=', 0.2, 'half of the cancels took 200 ms at most');
cmp_ok($latencies[-1], '<=', 1, 'none took more than a second');
is_value($scanning, $sum, $expected, 'afterwards the whole scan is right');
cmp_ok(rss_anon_kb($scanning->pid),
	'<', 200 * 1024, 'and its memory has not grown');

end_test($session, 'good');
