package import Foundation

/// How long a test waits for what happens in any case. It only bounds a hang, so it is generous: a busy machine must
/// not exceed it.
package enum TestLimit {
    package static let hang = Duration.seconds(60)
    package static let seconds: TimeInterval = 60
}
