# A psql that stays open, so that a test can watch one backend over many
# statements, send a statement without waiting for it, and tell what came back
# by SQLSTATE.
package FlussSession;

use strict;
use warnings;

use Carp;
use IO::Select;
use IPC::Open3;
use Symbol 'gensym';
use Time::HiRes 'time';

my $markers = 0;

# FlussSession->new(user => ..., database => ...)
sub new
{
	my ($class, %options) = @_;
	my $self = bless { out => '', err => '', %options }, $class;
	my $psql = $ENV{FLUSS_PG_BIN} ? "$ENV{FLUSS_PG_BIN}/psql" : 'psql';

	local $ENV{PGUSER} = $options{user} if $options{user};
	local $ENV{PGDATABASE} = $options{database} if $options{database};
	$self->{stderr} = gensym;
	$self->{process} =
	  open3($self->{stdin}, $self->{stdout}, $self->{stderr},
		$psql, qw(-X -A -t -q -v VERBOSITY=verbose));
	$self->{stdin}->autoflush(1);
	$self->{pid} = $self->value('SELECT pg_backend_pid()');
	return $self;
}

# Process id of the backend.
sub pid { return $_[0]{pid}; }

# Sends statements and returns at once; finish() has the answer.
sub send
{
	my ($self, $sql) = @_;
	my $marker = 'marker ' . ++$markers;

	local $SIG{PIPE} = 'IGNORE';
	@$self{qw(marker started)} = ($marker, time);
	print { $self->{stdin} } "$sql;\n\\echo $marker\n\\warn $marker\n";
	return $self;
}

# True when the answer is there within so many seconds.
sub ready
{
	my ($self, $seconds) = @_;
	my $end = time + $seconds;
	my %buffers = ($self->{stdout} => 'out', $self->{stderr} => 'err');
	my $marker = $self->{marker};

	until ($self->{closed}
		|| ($self->{out} =~ /^$marker\n/m && $self->{err} =~ /^$marker\n/m))
	{
		my $left = $end - time;
		my @open = grep { !$self->{"$_ closed"} } @$self{qw(stdout stderr)};

		for my $handle (
			IO::Select->new(@open)->can_read($left > 0 ? $left : 0))
		{
			my $buffer = $buffers{$handle};
			sysread($handle, $self->{$buffer}, 65536,
				length $self->{$buffer})
			  or $self->{"$handle closed"} = 1;
		}
		$self->{closed} = 1
		  unless grep { !$self->{"$_ closed"} } @$self{qw(stdout stderr)};
		return 0 if $left <= 0 && !$self->{closed};
	}
	return 1;
}

# The answer to what was sent: a hash of out, err, seconds (since send), errors
# (how many), sqlstate and message (of the first), closed (the session ended).
sub finish
{
	my ($self, $timeout) = @_;
	my %result;

	$self->ready($timeout // 120)
	  or croak 'no answer within ' . ($timeout // 120) . ' seconds';
	$result{seconds} = time - $self->{started};
	$result{closed} = $self->{closed};
	for my $buffer (qw(out err))
	{
		$self->{$buffer} =~ s/\A(.*?)^$self->{marker}\n//ms
		  or $self->{$buffer} =~ s/\A(.*)\z//s;
		$result{$buffer} = $1;
		chomp $result{$buffer};
	}
	my @errors = $result{err} =~ /^(?:ERROR|FATAL):  (\w{5}): (.*)$/mg;
	$result{errors} = @errors / 2;
	@result{qw(sqlstate message)} = @errors ? @errors : ('', '');
	return \%result;
}

sub run
{
	my ($self, $sql, $timeout) = @_;
	return $self->send($sql)->finish($timeout);
}

# What a statement that must not fail prints.
sub value
{
	my ($self, $sql, $timeout) = @_;
	my $result = $self->run($sql, $timeout);

	croak "$sql: $result->{err}" if $result->{errors} || $result->{closed};
	return $result->{out};
}

sub close
{
	my ($self) = @_;

	return unless $self->{process};
	local ($SIG{PIPE}, $?) = ('IGNORE', 0);
	CORE::close $self->{stdin};
	waitpid delete $self->{process}, 0;
	return;
}

sub DESTROY { $_[0]->close; return; }

1;
