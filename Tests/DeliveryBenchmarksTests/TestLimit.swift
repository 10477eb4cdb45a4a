import Foundation

/// The timeout for events that always happen. It only ends a test that hangs, so it is long enough for a busy machine.
enum TestLimit {
    static let hang = Duration.seconds(60)
    static let seconds: TimeInterval = 60
}
