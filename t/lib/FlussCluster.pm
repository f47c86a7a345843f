# A Fluss cluster that test/cluster/cluster runs, and what a test does to it.
# What was stopped or killed is brought back, and what was started is ended,
# when the test ends.
package FlussCluster;

use strict;
use warnings;

use Carp;
use File::Basename;

my $tool = dirname(__FILE__) . '/../../test/cluster/cluster';
my @clusters;

# The cluster of the test run.
sub given
{
	my ($class) = @_;
	my $self = bless { dir => $ENV{FLUSS_CLUSTER_DIR} }, $class;

	push @clusters, $self;
	return $self;
}

# One of the test's own, beside the other, with options for "cluster start".
sub start
{
	my ($class, $name, @options) = @_;
	my $self = bless { dir => "$ENV{FLUSS_CLUSTER_DIR}-$name", own => 1 },
	  $class;

	push @clusters, $self;
	$self->{options} = \@options;
	$self->_run('start', @options);
	return $self;
}

sub _run
{
	my ($self, @verb) = @_;
	my $log = "$self->{dir}-tap.log";

	my $pid = fork // croak "fork: $!";

	if ($pid == 0)
	{
		open STDOUT, '>>', $log or die;
		open STDERR, '>&', \*STDOUT or die;
		exec $tool, @verb, '--dir', $self->{dir} or die;
	}
	waitpid $pid, 0;
	croak "cluster @verb failed, see $log" if $?;
	return;
}

# A variable of cluster.env, e.g. FLUSS_BOOTSTRAP.
sub env
{
	my ($self, $name) = @_;

	open my $file, '<', "$self->{dir}/cluster.env" or croak "cluster.env: $!";
	while (<$file>)
	{
		return $1 if /^\Q$name\E=(.*)$/;
	}
	croak "no $name in cluster.env";
}

sub bootstrap { return $_[0]->env('FLUSS_BOOTSTRAP'); }

# Address of the tablet server alone.
sub tablet_address { return '127.0.0.1:' . $_[0]->env('FLUSS_TABLET_0_PORT'); }

# Addresses of all tablet servers.
sub tablet_addresses
{
	my ($self) = @_;

	open my $file, '<', "$self->{dir}/cluster.env" or croak "cluster.env: $!";
	return map { /^FLUSS_TABLET_\d+_PORT=(\d+)/ ? "127.0.0.1:$1" : () } <$file>;
}

sub kill_tablet
{
	my ($self, $number) = @_;

	$self->{dead}{ $number // 0 } = 1;
	return $self->_run('kill-tablet', $number // 0);
}

# Ends it in good order.
sub stop_tablet
{
	my ($self, $number) = @_;

	$self->{dead}{ $number // 0 } = 1;
	return $self->_run('stop-tablet', $number // 0);
}

sub start_tablet
{
	my ($self, $number) = @_;

	$self->_run('start-tablet', $number // 0);
	delete $self->{dead}{ $number // 0 };
	return;
}

# Stops tablet server and coordinator in their tracks, SIGSTOP; for less than
# the ZooKeeper session's six seconds, or they lose their places.
sub freeze
{
	my ($self) = @_;
	$self->{frozen} = 1;
	$self->_run('pause-tablet', 0);
	return $self->_signal_coordinator('STOP');
}

sub thaw
{
	my ($self) = @_;
	$self->_signal_coordinator('CONT');
	$self->_run('resume-tablet', 0);
	$self->{frozen} = 0;
	return;
}

sub _signal_coordinator
{
	my ($self, $signal) = @_;
	my $pid = $self->env('FLUSS_COORDINATOR_PID');

	open my $file, '<', "/proc/$pid/cmdline" or croak "no coordinator: $!";
	croak "process $pid is not the coordinator"
	  unless grep { /^-Dfluss_fdw\.server=.*coordinator$/ } split /\0/,
	  <$file>;
	kill $signal, $pid;
	return;
}

# Ends one of the test's own before the test ends: two need much memory.
sub end
{
	my ($self) = @_;

	@clusters = grep { $_ != $self } @clusters;
	return $self->_run('stop');
}

# Ends, or brings back, what the test still has.
sub end_all
{
	local $?;
	while (my $cluster = pop @clusters)
	{
		eval {
			if ($cluster->{own}) { $cluster->_run('stop') }
			else
			{
				$cluster->thaw if $cluster->{frozen};
				$cluster->start_tablet($_) for keys %{ $cluster->{dead} };
			}
			1;
		} or warn $@;
	}
	return;
}

END { end_all() }

1;
