import Foundation

/// How long a test waits for what happens in any case. It only bounds a hang, so it is generous: a busy machine must
/// not exceed it.
enum TestLimit {
    static let hang = Duration.seconds(60)
    static let seconds: TimeInterval = 60
}
