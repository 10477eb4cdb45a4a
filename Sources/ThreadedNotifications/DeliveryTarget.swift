/// A thread on which notifications are handled and blocks are performed: a `RunLoopThread`, `.main`, `.current` or
/// `.postingThread`.
///
///     center.addObserver(forName: name, on: .main) { … }
///     try worker.perform { … }
///
/// Only types of this package may conform to it.
/// Source: "Performing a block of code on a given thread".
public protocol DeliveryTarget: Sendable {
    /// The thread.
    var targetThread: TargetThread { get }
}
