# The Java client in a process of its own, Whole.java, that is asked line by line.
package JavaClient;

use strict;
use warnings;

use Carp;
use IPC::Open2;

# JavaClient->new(BOOTSTRAP); run has put its class path into FLUSS_FULL_CLASSES.
sub new
{
	my ($class, $bootstrap) = @_;
	my $java = $ENV{JAVA_HOME} ? "$ENV{JAVA_HOME}/bin/java" : 'java';
	my $self = bless {}, $class;

	$self->{process} = open2($self->{out}, $self->{in}, $java, qw(-Xmx2g -XX:+UseSerialGC
		  --add-opens=java.base/java.nio=ALL-UNNAMED -Dorg.slf4j.simpleLogger.defaultLogLevel=warn),
		'-cp', $ENV{FLUSS_FULL_CLASSES}, 'Whole', $bootstrap);
	$self->{in}->autoflush(1);
	return $self;
}

# The answer to a command of Whole.java.
sub ask
{
	my ($self, $command) = @_;

	print { $self->{in} } "$command\n";
	my $answer = readline($self->{out}) // croak "the Java client has ended at: $command";
	chomp $answer;
	return $answer;
}

sub close
{
	my ($self) = @_;

	return unless $self->{process};
	local ($SIG{PIPE}, $?) = ('IGNORE', 0);
	CORE::close $self->{in};
	waitpid delete $self->{process}, 0;
	return;
}

sub DESTROY { $_[0]->close; return; }

1;
