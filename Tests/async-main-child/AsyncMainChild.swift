import AsyncMain
import CoreFoundation
import Foundation
import Testing
import ThreadedNotifications

/// A program with an `async` main function that uses the main thread, or ends, in the way that its argument names. The
/// tests of `AsyncMain` run it.
@main
enum AsyncMainChild: String {
    /// Waits for a timer of the main run loop.
    case timer
    /// Runs a task on the main actor.
    case mainActor = "main-actor"
    /// Waits for an observer on `.main` of what other threads post.
    case observer
    /// Waits for a block of the main queue.
    case mainQueue = "main-queue"
    /// Waits for a block of the main queue after other code has stopped the run loop.
    case stoppedRunLoop = "stopped-run-loop"
    /// Waits for SIGTERM, which a source of the main queue handles.
    case signalSource = "signal-source"
    /// Is ended by a signal that it does not handle.
    case terminate
    /// Exits with the status 7 while main awaits.
    case exit
    /// Throws an error.
    case error
    /// Runs the tests of this program, as the main function that SwiftPM generates for tests does.
    case tests = "swift-testing"

    private struct Failure: Error {}

    static func main() async throws {
        guard let child = CommandLine.arguments.last.flatMap(AsyncMainChild.init) else {
            fatalError("no such child: \(CommandLine.arguments)")
        }
        // An async main function begins on the main thread. Only what follows a suspension shows where it continues.
        await Task.detached {}.value
        guard isOnMainThread else { fatalError("main continues on another thread") }
        try await child.perform()
        print("main ends on \(ThreadIdentity.current)")
    }

    private static var isOnMainThread: Bool { Thread.isMainThread }

    @MainActor
    private func perform() async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: String.self)
        let note: @Sendable (String) -> Void = { continuation.yield("\($0) on \(ThreadIdentity.current)") }
        let center = ThreadedNotificationCenter()
        var token: ObserverToken?
        var source: (any DispatchSourceSignal)?
        switch self {
        case .timer: startTimer { note("timer") }
        case .mainActor: Task.detached { await MainActor.run { note("main actor") } }
        case .observer:
            token = center.addObserver(forName: nil, on: .main) { _ in note("observer") }
            Thread.detachNewThread { center.post(name: Notification.Name("posted")) }
        case .mainQueue: DispatchQueue.main.async { note("main queue") }
        case .stoppedRunLoop:
            DispatchQueue.main.async {
                CFRunLoopStop(CFRunLoopGetMain())
                Thread.detachNewThread { DispatchQueue.main.async { note("main queue") } }
            }
        case .signalSource:
            Foundation.signal(SIGTERM, SIG_IGN)
            source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .main)
            source?.setEventHandler { note("signal source") }
            source?.setRegistrationHandler { kill(getpid(), SIGTERM) }
            source?.resume()
        case .terminate: startTimer { kill(getpid(), SIGTERM) }
        case .exit: startTimer { Foundation.exit(7) }
        case .error: throw Failure()
        case .tests: await Testing.__swiftPMEntryPoint() as Never
        }
        for await call in calls.prefix(1) { print(call) }
        token?.cancel()
        source?.cancel()
    }

    private func startTimer(_ block: @escaping @Sendable () -> Void) {
        _ = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in block() }
    }
}
