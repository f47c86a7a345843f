# Who reaches Fluss as whom: user mappings through views, functions, partitions
# and rules; passwords; changes of a server or mapping in a live session. On a
# cluster where only root may do anything.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";
use FlussTest;
use Test::More;

my ($cluster, $session) = begin_test('users');
my $sasl = FlussCluster->start('sasl', '--sasl');
my ($root, $root_password) =
  ($sasl->env('FLUSS_USER'), $sasl->env('FLUSS_PASSWORD'));
my ($bob, $bob_password) =
  ($sasl->env('FLUSS_USER2'), $sasl->env('FLUSS_PASSWORD2'));
my @roles = map { "tap_$_" } qw(owner reader stranger);

sub drop_roles
{
	for my $role (@roles)
	{
		next if $session->run("DROP OWNED BY $role CASCADE")->{sqlstate} eq '42704';
		$session->value("DROP ROLE $role");
	}
	return;
}

drop_roles();
$session->value("CREATE ROLE $_ LOGIN") for @roles;
$session->value("GRANT CREATE ON SCHEMA public TO tap_owner;
	GRANT USAGE ON FOREIGN DATA WRAPPER fluss_fdw TO tap_owner");

# the owner's mapping is root, the reader has none, the stranger is bob
add_good_server($session, 'good',
	bootstrap_servers => $sasl->bootstrap,
	security_protocol => 'sasl',
	user => $root,
	password => $root_password);
add_readings($session, 'good', 'readings', 100);
add_info($session, 'good', 'info', 10);
$session->value(
	"DROP USER MAPPING FOR PUBLIC SERVER good;
	 CREATE USER MAPPING FOR tap_owner SERVER good OPTIONS (user '$root', password '$root_password');
	 CREATE USER MAPPING FOR tap_stranger SERVER good OPTIONS (user '$bob', password '$bob_password');
	 CREATE USER MAPPING FOR postgres SERVER good OPTIONS (user '$root', password '$root_password');
	 ALTER FOREIGN TABLE readings OWNER TO tap_owner;
	 ALTER FOREIGN TABLE info OWNER TO tap_owner;
	 ALTER SERVER good OWNER TO tap_owner");

my $owner = FlussSession->new(user => 'tap_owner');
$owner->value(
	"CREATE VIEW owners_view AS SELECT sensor_id, temperature_c FROM readings;
	 CREATE VIEW owners_join AS SELECT r.sensor_id, i.name FROM readings r JOIN info i USING (sensor_id);
	 CREATE VIEW owners_lookup AS SELECT name FROM info WHERE sensor_id = 7;
	 CREATE VIEW invokers_view WITH (security_invoker) AS SELECT sensor_id, temperature_c FROM readings;
	 CREATE VIEW nested_view AS SELECT * FROM owners_view;
	 CREATE FUNCTION definers(OUT n bigint) SECURITY DEFINER LANGUAGE plpgsql AS 'BEGIN SELECT count(*) INTO n FROM readings; END';
	 CREATE FUNCTION invokers(OUT n bigint) LANGUAGE plpgsql AS 'BEGIN SELECT count(*) INTO n FROM readings; END';
	 CREATE FUNCTION inlined() RETURNS SETOF readings STABLE LANGUAGE sql AS 'SELECT * FROM readings';
	 CREATE TABLE parent (sensor_id integer, name text) PARTITION BY RANGE (sensor_id);
	 CREATE FOREIGN TABLE child PARTITION OF parent FOR VALUES FROM (0) TO (1000) SERVER good OPTIONS (table_name 'info');
	 CREATE TABLE letterbox (sensor_id integer, name text);
	 CREATE RULE forward AS ON INSERT TO letterbox DO INSTEAD INSERT INTO info VALUES (NEW.sensor_id, NEW.name);
	 GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO tap_reader, tap_stranger"
);

my $reader = FlussSession->new(user => 'tap_reader');
my $stranger = FlussSession->new(user => 'tap_stranger');
my @through_owner = (
	[ 'SELECT count(*) FROM owners_view' => 100 ],
	[ 'SELECT count(*), min(name) FROM owners_join' => '10|sensor 0' ],
	[ 'SELECT * FROM owners_lookup' => 'sensor 7' ],
	[ 'SELECT count(*) FROM nested_view WHERE sensor_id < 50' => 50 ],
	[ 'SELECT definers()' => 100 ],
	[ "INSERT INTO letterbox VALUES (500, 'by rule')" => '' ]);
my @as_invoker = (
	'SELECT count(*) FROM readings',
	'SELECT count(*) FROM invokers_view',
	'SELECT invokers()',
	'SELECT count(*) FROM inlined()',
	'SELECT count(*) FROM parent',
	'SELECT name FROM parent WHERE sensor_id = 7',
	'SELECT * FROM readings, owners_view',
	"INSERT INTO info VALUES (501, 'refused')",
	"INSERT INTO parent VALUES (502, 'refused')");

is_value($owner, 'SELECT count(*) FROM readings', 100, 'the owner reads');
for ([ reader => $reader, '42704' ], [ stranger => $stranger, '42501' ])
{
	my ($name, $user, $sqlstate) = @$_;

	for my $case (@through_owner)
	{
		my ($sql, $result) = @$case;
		is_value($user, $sql, $result, "$name: the owner's mapping: $sql");
		next if $sql =~ /definers/;
		my $plan = $user->value("EXPLAIN (VERBOSE, COSTS OFF) $sql");
		unlike($plan, qr/unavailable/, "$name: planned with the owner's, too");
	}
	is_error($user->run($_), $sqlstate, "$name: the invoker's mapping: $_", 5)
	  for @as_invoker;
}
is_value($owner, 'SELECT name FROM info WHERE sensor_id = 500',
	'by rule', 'what the rule wrote');
is_value($owner, 'SELECT count(*) FROM info WHERE sensor_id > 500',
	0, 'what was refused was not written');

# lookup joins, each side with the mapping of its own view
$stranger->value('CREATE SCHEMA AUTHORIZATION CURRENT_USER')
  if $session->value("GRANT CREATE ON DATABASE tap_users TO tap_stranger") eq '';
$stranger->value(
	"CREATE VIEW tap_stranger.info AS SELECT * FROM public.info;
	 CREATE VIEW tap_stranger.readings AS SELECT * FROM public.readings;
	 CREATE VIEW tap_stranger.invokers_info WITH (security_invoker) AS SELECT * FROM public.info;
	 GRANT USAGE ON SCHEMA tap_stranger TO PUBLIC; GRANT SELECT ON ALL TABLES IN SCHEMA tap_stranger TO PUBLIC");
$owner->value('CREATE VIEW owners_info AS SELECT * FROM info;
	GRANT SELECT ON owners_info TO tap_reader, tap_stranger');
$session->value('GRANT SELECT ON ALL TABLES IN SCHEMA public TO postgres');
for my $mode ('', 'SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off',
	'SET fluss_fdw.enable_lookup_join = off; SET enable_nestloop = on; SET enable_material = off; SET enable_memoize = off')
{
	for my $case (
		[ $session, 'owners_view', 'owners_info', '' ],
		[ $reader, 'owners_view', 'owners_info', '' ],
		[ $stranger, 'owners_view', 'owners_info', '' ],
		[ $session, 'owners_view', 'tap_stranger.info', '42501' ],
		[ $session, 'tap_stranger.readings', 'owners_info', '42501' ],
		[ $session, 'tap_stranger.readings', 'info', '42501' ],
		[ $owner, 'readings', 'tap_stranger.info', '42501' ],
		[ $owner, 'readings', 'tap_stranger.invokers_info', '' ],
		[ $session, 'invokers_view', 'tap_stranger.invokers_info', '' ],
		[ $reader, 'owners_view', 'tap_stranger.invokers_info', '42704' ],
		[ $reader, 'owners_view', 'info', '42704' ],
		[ $reader, 'readings', 'owners_info', '42704' ])
	{
		my ($user, $outer, $inner, $sqlstate) = @$case;
		my $sql = "SELECT count(*), count(i.name) FROM $outer r LEFT JOIN $inner i USING (sensor_id)";

		$user->value($mode) if $mode;
		if ($sqlstate)
		{
			is_error($user->run($sql), $sqlstate, "$outer with $inner", 5);
			next;
		}
		is_value($user, $sql, '100|10', "$outer with $inner");
		like($user->value("EXPLAIN (COSTS OFF) $sql"),
			$mode =~ /enable_lookup_join/ ? qr/Fluss Scan: lookup/ : qr/Lookup Join/, 'by lookups')
		  if $mode;
	}
}
$_->value('RESET ALL; SET client_min_messages = warning') for $session, $owner, $reader, $stranger;

# one statement, two users
$session->value('GRANT SELECT ON readings TO postgres');
is_value($session,
	'SELECT count(*) FROM readings r JOIN owners_view v USING (sensor_id)',
	100, 'own mapping and owner\'s mapping in one statement');

# a prepared statement, planned for one role and executed by another
$session->value('PREPARE p AS SELECT count(*) FROM readings');
is_value($session, 'EXECUTE p', 100, 'prepared and executed by the superuser')
  for 1 .. 6;
$session->value('SET ROLE tap_reader');
is_error($session->run('EXECUTE p'), '42704', 'executed by the reader');
$session->value('SET ROLE tap_stranger');
is_error($session->run('EXECUTE p'), '42501', 'executed by the stranger');
$session->value('RESET ROLE');
is_value($session, 'EXECUTE p', 100, 'and by the superuser again');

# ---- passwords

$session->value("CREATE USER MAPPING FOR tap_reader SERVER good OPTIONS (user '$root')");
is_error($reader->run('SELECT count(*) FROM readings'),
	'42501', 'SASL without a password is not for a non-superuser', 5);
is_error(
	$reader->run("INSERT INTO info VALUES (503, 'refused')"),
	'42501', 'nor is an INSERT', 5);
is_error($reader->run('SELECT count(*) FROM invokers_view'),
	'42501', 'nor through a view that runs as the invoker', 5);
is_value($reader, @{ $through_owner[0] }, 'the owner\'s view still works');
is_error(
	$owner->run(
		"ALTER USER MAPPING FOR tap_reader SERVER good OPTIONS (ADD password_required 'false')"
	),
	'42501', 'only a superuser waives the password');
is_error(
	$owner->run("ALTER SERVER good OPTIONS (ADD remote_files '/etc')"),
	'42501', 'only a superuser opens local files');
is_value($owner,
	"SELECT umoptions::text LIKE '%$root_password%' FROM pg_user_mappings WHERE usename = 'tap_owner'",
	't', 'an owner may see his own password');
is_value($reader,
	"SELECT count(*) FROM pg_user_mappings WHERE umoptions::text LIKE '%$root_password%'",
	0, 'others may not');
$session->value(
	"ALTER USER MAPPING FOR tap_reader SERVER good OPTIONS (ADD password_required 'false')");
is_error($reader->run('SELECT count(*) FROM readings'),
	'HV00N', 'with the waiver it is the server that refuses', 5);

# ---- changes in a live session

my $count = 'SELECT count(*) FROM readings';
my $mapping = 'ALTER USER MAPPING FOR tap_owner SERVER good OPTIONS';
my @sockets = sockets($owner->pid);
is_value($owner, $count, 100, 'a live session');
$session->value("$mapping (SET password 'wrong')");
is_error($owner->run($count), 'HV00N', 'a wrong password takes effect', 5);
is_error($owner->run($count), 'HV00N', 'and stays', 5);
$session->value("$mapping (SET password '$root_password')");
is_value($owner, $count, 100, 'the right one takes effect');
$session->value("$mapping (SET user '$bob', SET password '$bob_password')");
is_error($owner->run($count), '42501', 'another user takes effect', 5);
$session->value("$mapping (SET user '$root', SET password '$root_password')");
is_value($owner, $count, 100, 'the first takes effect again');
$session->value("ALTER SERVER good OPTIONS (SET bootstrap_servers '127.0.0.1:"
	  . closed_port() . "')");
is_error($owner->run($count), 'HV00N', 'another address takes effect', 5);
$session->value(
	"ALTER SERVER good OPTIONS (SET bootstrap_servers '" . $sasl->bootstrap . "')");
is_value($owner, $count, 100, 'the first takes effect again');
$session->value("ALTER FOREIGN TABLE readings OPTIONS (ADD table_name 'nowhere')");
is_error($owner->run($count), 'HV00R', 'another remote table takes effect', 5);
$session->value("ALTER FOREIGN TABLE readings OPTIONS (DROP table_name)");
is_value($owner, $count, 100, 'the first takes effect again');
cmp_ok(scalar sockets($owner->pid),
	'<=', scalar @sockets, 'old connections are closed');

# a scan that is under way goes on as it began
$owner->value('BEGIN; DECLARE c CURSOR FOR SELECT temperature_c FROM readings');
is($owner->value('FETCH 1 FROM c'), 0, 'a cursor is open');
$session->value("$mapping (SET password 'wrong')");
is_value($owner, 'FETCH 2 FROM c', "1\n2", 'it goes on');
is_error($owner->run($count), 'HV00N', 'a new scan takes the new password', 5);
$owner->value('ROLLBACK');
$session->value("$mapping (SET password '$root_password')");
is_value($owner, $count, 100, 'and all is well again');
$session->value('DROP USER MAPPING FOR tap_owner SERVER good');
is_error($owner->run($count), '42704', 'a mapping that is gone');

$_->close for $owner, $reader, $stranger;
$session->value("SELECT fluss_drop_database('good', 'tap_users', cascade => true)");
drop_roles();
done_testing();
