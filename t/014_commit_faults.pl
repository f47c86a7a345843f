# write_mode commit when the flush before the local commit goes wrong: the local
# transaction is rolled back with one clear error, in time, and the session goes on.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;
use Time::HiRes 'sleep';

my ($cluster, $session) = begin_test('commit_faults');
add_good_server(
	$session, 'good',
	bootstrap_servers => $cluster->tablet_address,
	request_timeout => '60s',
	write_mode => 'commit');
add_server(
	$session, 'hasty',
	bootstrap_servers => $cluster->tablet_address,
	request_timeout => '3s',
	write_mode => 'commit');
$session->value(
	"CREATE TABLE local (id integer);
	 CREATE FOREIGN TABLE events (id integer, note text) SERVER good;
	 SELECT fluss_create_table('events', bucket_count => 2);
	 CREATE FOREIGN TABLE hasty_events (id integer, note text) SERVER hasty
	   OPTIONS (table_name 'events');
	 CREATE FOREIGN TABLE state (id integer NOT NULL, note text) SERVER good;
	 SELECT fluss_create_table('state', primary_key => '{id}', bucket_count => 2)");

# Everything but the COMMIT, in a session of its own.
sub transaction
{
	my ($id, $table, $settings) = @_;
	my $other = FlussSession->new;

	$other->value("INSERT INTO $table VALUES (0, 'before')");
	$other->value(
		"$settings; BEGIN; INSERT INTO local VALUES ($id);
		 INSERT INTO $table SELECT $id, 'x' FROM generate_series(1, 1000);
		 INSERT INTO state VALUES ($id, 'x')");
	return $other;
}

# What is true after any of them. Of an unclear end Fluss may have the rows, but
# never some of them twice.
sub check_after
{
	my ($id, $other, $rows, $name) = @_;

	is_value($session, "SELECT count(*) FROM local WHERE id = $id", 0,
		"$name: nothing is committed here");
	my $count = $session->value("SELECT count(*) FROM events WHERE id = $id");
	ok($count == 0 || $count == $rows, "$name: no row is in Fluss twice")
	  or diag "$count rows";
	return unless $other;
	is_value($other, "INSERT INTO events VALUES (-$id, 'after')", '', "$name: the session goes on");
	is_value($session, "SELECT count(*) FROM events WHERE id = -$id", 1, "$name: and writes once");
	$other->close;
	return;
}

# A statement_timeout does not fire while a transaction commits; a flush has that
# much time all the same.
my $other = transaction(1, 'events', "SET statement_timeout = '800ms'");
$cluster->freeze;
my $result = $other->run('COMMIT');
$cluster->thaw;
like($result->{sqlstate}, qr/^(HV00[NL]|57014)$/, 'statement_timeout: one clear error');
cmp_ok($result->{seconds}, '<', 2.5, 'statement_timeout: in time');
$other->value('RESET statement_timeout');
check_after(1, $other, 1000, 'statement_timeout');

$other = transaction(2, 'hasty_events', '');
$cluster->freeze;
$result = $other->run('COMMIT');
$cluster->thaw;
like($result->{sqlstate}, qr/^HV00[NL]$/, 'request_timeout: one clear error');
cmp_ok($result->{seconds}, '<', 5, 'request_timeout: in time');
check_after(2, $other, 1000, 'request_timeout');

$other = transaction(3, 'events', '');
$cluster->freeze;
$other->send('COMMIT');
ok(!$other->ready(1), 'cancel: the commit waits');
$session->value('SELECT pg_cancel_backend(' . $other->pid . ')');
$result = $other->finish;
$cluster->thaw;
is_error($result, '57014', 'cancel: one clear error', 2.5);
check_after(3, $other, 1000, 'cancel');

$other = transaction(4, 'events', '');
$cluster->freeze;
$other->send('COMMIT');
$other->ready(0.5);
$session->value('SELECT pg_terminate_backend(' . $other->pid . ')');
$result = $other->finish;
$cluster->thaw;
ok($result->{closed}, 'termination: the session ends');
cmp_ok($result->{seconds}, '<', 2.5, 'termination: at once');
check_after(4, undef, 1000, 'termination');

# The server dies before the commit, and comes back in time or does not.
$other = transaction(5, 'events', '');
$cluster->kill_tablet(0);
$result = $other->send("SET LOCAL statement_timeout = '1s'; COMMIT")->finish;
is_error($result, $result->{sqlstate} =~ /^HV0/ ? $result->{sqlstate} : 'HV00N',
	'dead server: one clear error', 4);
$cluster->start_tablet(0);
check_after(5, $other, 1000, 'dead server');

$other = transaction(6, 'events', '');
$cluster->kill_tablet(0);
$other->send('COMMIT');
$cluster->start_tablet(0);
$result = $other->finish;
note $result->{err};
if ($result->{errors})
{
	# the new server may take longer to lead than request_timeout
	like($result->{sqlstate}, qr/^HV0/, 'restarted server: one clear error');
	check_after(6, $other, 1000, 'restarted server');
}
else
{
	is_value($session, 'SELECT count(*) FROM local WHERE id = 6', 1, 'restarted server: committed here');
	is_value($session, 'SELECT count(*) FROM events WHERE id = 6', 1000, 'restarted server: and in Fluss, once');
	is_value($session, 'SELECT note FROM state WHERE id = 6', 'x', 'restarted server: in both tables');
}

end_test($session, 'good');
