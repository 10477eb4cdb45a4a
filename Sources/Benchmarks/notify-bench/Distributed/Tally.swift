internal import CControl
internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// Counters in memory that processes share: one process posts, and the observers in others count what they handle.
///
/// Safety: after `init` the memory holds only atomic values and a semaphore, and it stays mapped until the end.
final class Tally: @unchecked Sendable {
    private static let slot = 64
    private static let goal = 1, reached = 2, doneAt = 3, missed = 4, first = 5

    private let memory: UnsafeMutableRawPointer
    private let size: Int

    /// - Parameters:
    ///   - path: of the shared file.
    ///   - isNew: true to create the file, with counters of zero.
    init(_ observers: Int, at path: String, isNew: Bool) throws(BenchmarkError) {
        size = Self.slot * (Self.first + observers)
        let file = open(path, O_RDWR | O_CLOEXEC | (isNew ? O_CREAT | O_EXCL : 0), 0o600)
        defer { close(file) }
        guard file >= 0, !isNew || ftruncate(file, size) == 0,
            let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else { throw .notMade("memory that processes share", code: errno) }
        self.memory = memory
        if isNew { sem_init(semaphore, 1, 0) }
    }

    deinit { munmap(memory, size) }

    private var observers: Int { size / Self.slot - Self.first }
    private var semaphore: UnsafeMutablePointer<sem_t> { memory.assumingMemoryBound(to: sem_t.self) }

    /// Each in a cache line of its own, because several processes count at the same time.
    private func counter(_ slot: Int) -> UnsafeMutablePointer<Atomic<Int64>> {
        (memory + slot * Self.slot).assumingMemoryBound(to: Atomic<Int64>.self)
    }

    private func value(_ slot: Int) -> Int64 { counter(slot).pointee.load(ordering: .sequentiallyConsistent) }

    @discardableResult
    private func add(_ number: Int, to slot: Int) -> Int64 {
        counter(slot).pointee.add(Int64(number), ordering: .sequentiallyConsistent).newValue
    }

    /// Adds notifications that an observer has handled. On any thread of the observer's process.
    func handle(_ count: Int, by observer: Int) {
        let (now, goal) = (add(count, to: Self.first + observer), value(Self.goal))
        guard now >= goal, now - Int64(count) < goal, add(1, to: Self.reached) == observers else { return }
        counter(Self.doneAt).pointee.store(CControlNow(), ordering: .sequentiallyConsistent)
        sem_post(semaphore)
    }

    /// Adds notifications that were lost on the way to an observer.
    func miss(_ count: Int, by observer: Int) {
        add(count, to: Self.missed)
        handle(count, by: observer)
    }

    /// Expects each observer to handle `count` more. Called after all earlier ones were handled, and before a wait.
    func expect(_ count: Int) {
        counter(Self.reached).pointee.store(0, ordering: .sequentiallyConsistent)
        add(count, to: Self.goal)
    }

    /// Sleeps for a moment, or until each observer has handled, or missed, all that is expected.
    /// - Returns: true if they have. After false, the caller may wait again.
    func wait() -> Bool { CLinuxWaitForSemaphore(semaphore, 100_000_000) }

    /// The time, by `CControlNow`, at which the last observer had handled all that was expected.
    var doneAt: Int64 { value(Self.doneAt) }
    /// The number of lost notifications, for all observers together.
    var missed: Int { Int(value(Self.missed)) }
    /// The number that each observer has handled or missed since the beginning.
    var counts: [Int] { (0..<observers).map { Int(value(Self.first + $0)) } }
}
