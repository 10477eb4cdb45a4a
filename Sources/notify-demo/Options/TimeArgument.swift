import ArgumentParser
import DeliveryDiagnostics

/// A time on the command line: a number with ns, us, ms or s.
struct TimeArgument: ExpressibleByArgument {
    var duration: Duration

    init(_ duration: Duration) {
        self.duration = duration
    }

    init?(argument: String) {
        guard let duration = Duration(argument: argument) else { return nil }
        self.duration = duration
    }

    var defaultValueDescription: String { TimeWords.duration(duration) }
}
