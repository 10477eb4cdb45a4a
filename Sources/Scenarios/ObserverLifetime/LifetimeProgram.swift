internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Listing 4's program and its remedies: the program of each process of the scenario `observer-lifetime`.
///
/// The listing uses `sleep(1)` to make it likely that the observer is released while its handler runs. Here gates
/// guarantee it.
package enum LifetimeProgram {
    package static let subcommand = "observer-lifetime-child"

    /// Runs on the main thread until the handler has ended and the observer was released, or until the process crashes.
    package static func perform(_ capture: ObserverCapture, recorder: DeliveryRecorder, timeout: Duration) throws {
        guard Thread.isMainThread else { throw ScenarioError.notOnMainThread }
        recorder.record(.processStart, message: capture.rawValue)
        let story = LifetimeStory(recorder: recorder, timeout: timeout, holdsHandler: capture != .oneThread)
        let poster = LifetimePoster()
        var observer: LifetimeObserver? = LifetimeObserver(capture, story: story, poster: poster)

        let thread = Thread {
            if capture == .delegation {
                poster.delegate?.handleNotification()
            } else {
                NotificationCenter.default.post(name: TestNotification.foundationName, object: nil)
            }
            story.postReturned.open()
        }
        thread.start()
        try withExtendedLifetime(observer) {
            if capture == .oneThread {
                try RunLoop.runCurrent(
                    until: { story.handlerBegan.isOpen }, waitingFor: "the handler", timeout: timeout)
            } else {
                try story.handlerBegan.wait(timeout: timeout)
            }
        }
        observer = nil
        story.observerReleased.open()
        try story.postReturned.wait(timeout: timeout)
    }
}

/// The gates and the recorder that the handler and the main thread share.
struct LifetimeStory: Sendable {
    static let beginMessage = "handle notification begin"
    static let endMessage = "handle notification end"
    static let releaseMessage = "Observer dealloc"

    let recorder: DeliveryRecorder
    let timeout: Duration
    /// True if the handler waits until the main thread has released its last reference to the observer.
    let holdsHandler: Bool
    let handlerBegan = Gate("the handler")
    let observerReleased = Gate("the observer's release")
    let postReturned = Gate("the poster")

    /// The body of listing 4's handler, up to its last line.
    func handle() {
        recorder.log(Self.beginMessage)
        handlerBegan.open()
        if holdsHandler {
            do throws(ScenarioError) {
                try observerReleased.wait(timeout: timeout)
            } catch {
                recorder.log(error.description)
            }
        }
        recorder.log(Self.endMessage)
    }
}

/// The poster of the remedy "delegation".
final class LifetimePoster {
    weak var delegate: LifetimeObserver?
}

// Safety: the delegate is set before the posting thread starts and not changed after; weak references are read
// atomically.
extension LifetimePoster: @unchecked Sendable {}
