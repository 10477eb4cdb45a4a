import AsyncMain
import CoreFoundation
import Foundation
import Testing
import ThreadedNotifications

/// A program with an `async` main function that uses the main thread, or ends, in the way that its argument names. The
/// tests of `AsyncMain` run it.
@main
enum AsyncMainChild: String {
    /// Waits for what the main thread serves: a timer, a task of the main actor, an observer on `.main`, a block of the
    /// main queue after other code has stopped the run loop, and a signal source of the main queue.
    case served
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
        let token = center.addObserver(forName: nil, on: .main) { _ in note("observer") }
        var source: (any DispatchSourceSignal)?
        switch self {
        case .served:
            startTimer { note("timer") }
            Task.detached { await MainActor.run { note("main actor") } }
            Thread.detachNewThread { center.post(name: Notification.Name("posted")) }
            DispatchQueue.main.async {
                CFRunLoopStop(CFRunLoopGetMain())
                Thread.detachNewThread { DispatchQueue.main.async { note("main queue") } }
            }
            Foundation.signal(SIGUSR1, SIG_IGN)
            source = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: .main)
            source?.setEventHandler { note("signal source") }
            source?.setRegistrationHandler { kill(getpid(), SIGUSR1) }
            source?.resume()
        case .terminate: startTimer { kill(getpid(), SIGTERM) }
        case .exit: startTimer { Foundation.exit(7) }
        case .error: throw Failure()
        case .tests: await Testing.__swiftPMEntryPoint() as Never
        }
        for await call in calls.prefix(5) { print(call) }
        withExtendedLifetime((token, source)) {}
    }

    private func startTimer(_ block: @escaping @Sendable () -> Void) {
        _ = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: false) { _ in block() }
    }
}
