import Foundation

/// The timeout for events that happen in any case. It only prevents hangs, so it is
/// long enough for a busy machine.
enum TestLimit {
    static let hang = Duration.seconds(60)
    static let seconds: TimeInterval = 60
}
