package import Foundation

/// The timeout for events that always happen. It only ends a test that hangs, so it is long enough for a busy machine.
package enum TestTimeout {
    package static let hang = Duration.seconds(60)
    package static let seconds: TimeInterval = 60
}
