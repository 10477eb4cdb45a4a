import Foundation

/// The timeout of tests that wait. It only ends a hang, so it is long enough for a busy machine.
enum TestLimit {
    static let hang = Duration.seconds(60)
    static let seconds: TimeInterval = 60
}
