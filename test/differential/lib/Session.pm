# One psql process that is spoken to over pipes: statement in, rows out.
package Session;
use strict;
use warnings;
use IPC::Open2;

my $COUNT = 0;

# A session whose search path begins with the schema.
sub new {
	my ($class, $schema) = @_;
	my $self = bless { schema => $schema }, $class;
	$self->open;
	return $self;
}

sub open {
	my ($self) = @_;
	my $program = defined $ENV{FLUSS_PG_BIN} ? "$ENV{FLUSS_PG_BIN}/psql" : 'psql';
	my $log = $ENV{DIFFERENTIAL_LOG} // '/dev/null';
	$self->{pid} = open2($self->{from}, $self->{to},
		"exec '$program' -XqAt -P null='<NULL>' -F '\x1f' 2>>'$log'");
	binmode $_, ':utf8' for $self->{from}, $self->{to};
	$self->{to}->autoflush(1);
	my ($rows, $state) = $self->run("SET search_path = $self->{schema}, public; SET statement_timeout = '120s'; SET client_min_messages = error; SET jit = off;");
	die "psql does not start or the database is not there\n" if $state ne '00000';
}

# Runs statements, returns (rows as array of texts, SQLSTATE, message). A lost
# connection is the state "crash"; the session is opened again.
sub run {
	my ($self, $sql) = @_;
	my $end = '@@end' . ++$COUNT;
	local $SIG{PIPE} = 'IGNORE';
	print { $self->{to} } "$sql\n;\n\\r\n\\echo $end :SQLSTATE :LAST_ERROR_MESSAGE\n\\echo $end\n";
	my ($rows, $state, $message) = ([], undef, '');
	my $from = $self->{from};
	while (my $line = <$from>) {
		chomp $line;
		if (!defined $state) {
			if ($line =~ /^$end (\S+) ?(.*)/) { ($state, $message) = ($1, $2) }
			else { push @$rows, $line }
		}
		elsif ($line eq $end) {
			return ($rows, $state, $state eq '00000' ? '' : $message);
		}
		else { $message .= "\n$line" }
	}
	waitpid $self->{pid}, 0;
	delete @$self{qw(from to)};
	for (1 .. 60) {
		last if eval { $self->open; 1 };
		sleep 1;
	}
	return ($rows, 'crash', 'the connection was lost');
}

# One value, or an end with the reason.
sub value {
	my ($self, $sql) = @_;
	my ($rows, $state, $message) = $self->run($sql);
	die "$message\n" if $state ne '00000';
	return $rows->[0];
}

sub close {
	my ($self) = @_;
	return unless $self->{to};
	close $self->{to};
	waitpid $self->{pid}, 0;
	delete $self->{to};
}

1;
