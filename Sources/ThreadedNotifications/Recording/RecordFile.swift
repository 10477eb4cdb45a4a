internal import Foundation
internal import Glibc

/// Writes records to a file in the background, with bounded memory.
///
///     record ─► filled buffer ─ swap ─► written buffer ─► file
///
/// Threads: every method may be called on any thread, unless its comment says otherwise.
/// Order: records are in the order in which threads took the lock, so a stage that another one caused follows it in the
/// file.
/// Cost: the line is composed without the lock, and copied with it. A thread that finds the buffer full writes it,
/// which bounds the memory.
//
// Safety: `buffers` and `error` are accessed with `lock` held, or by a signal handler that interrupted the thread that
// holds it. The memory of the buffer that is being written is read without `lock`, by the thread that holds `writing`;
// it does not change until that thread is done. Everything else is set once, or has its own lock.
final class RecordFile: @unchecked Sendable {
    var path: String { destination.path }
    var absolutePath: String { destination.absolutePath }
    /// Never deallocated, because a signal handler may read it at any time. The memory for lines is deallocated at the
    /// end.
    private let buffers: UnsafeMutablePointer<RecordBuffers>
    private let lock = RecordLock()
    /// Held while a buffer is written. Taken before `lock`.
    private let writing = Locked(())

    private let destination: RecordDestination
    private var error: Int32 = 0
    /// Signalled when the filled buffer is no longer empty.
    private let isNotEmpty = MonotonicSemaphore()
    /// Signalled when the filled buffer is half full.
    private let isHalfFull = MonotonicSemaphore()

    /// - Throws: `DeliveryError.recordingFailed` if the header cannot be written; readers need it.
    init(_ destination: RecordDestination) throws(DeliveryError) {
        self.destination = destination
        buffers = .allocate(capacity: 1)
        buffers.initialize(to: RecordBuffers(descriptor: destination.descriptor, offset: destination.offset))
        buffers.pointee.append(
            RecordingHeader.text(
                process: SystemThread.processID, name: ProcessInfo.processInfo.processName, number: 1,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds,
                wallNanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)))
        if !writeFilled() {
            buffers.pointee.close()
            destination.close()
            throw .recordingFailed(path: path, problem: String(cString: strerror(error)))
        }
    }

    // MARK: Recording

    /// Records a stage with the current time.
    ///
    /// - Parameters:
    ///   - rest: the line without its beginning.
    ///   - thread: the number of the calling thread.
    ///   - target: the target thread of the delivery.
    func append(_ rest: UnsafeBufferPointer<UInt8>, thread: Int, target: ThreadIdentity?) {
        // The line itself, a line about lost records and two about threads.
        let needed = rest.count + 2 * RecordLine.maximumBeginningLength + 512 + 2 * RecordingHeader.maximumLength
        lock.lock()
        while !buffers.pointee.isFinished, !buffers.pointee.hasRoom(for: needed) {
            lock.unlock()
            let isWritten = write()
            lock.lock()
            if !isWritten {
                buffers.pointee.countLost(1)
                return lock.unlock()
            }
        }
        guard !buffers.pointee.isFinished else { return lock.unlock() }
        let length = buffers.pointee.filled.length
        if buffers.pointee.lost > 0 { appendLost(on: thread) }
        if !buffers.pointee.isKnown(thread) { appendIdentity(of: .current) }
        if let target, !buffers.pointee.isKnown(target.number) { appendIdentity(of: target) }
        buffers.pointee.append(restOfLine: rest)
        let half = RecordBuffers.capacity / 2
        let becomesHalfFull = length <= half && buffers.pointee.filled.length > half
        lock.unlock()
        if length == 0 { isNotEmpty.signal() }
        if becomesHalfFull { isHalfFull.signal() }
    }

    /// Records how many records were lost. Called as soon as the buffer has room again.
    private func appendLost(on thread: Int) {
        let offset = buffers.pointee.filled.length
        appendLine(on: thread, stage: "lost", count: Int(buffers.pointee.lost))
        buffers.pointee.setLostReported(at: offset)
    }

    /// Records an event of the calling thread that is not a stage of a delivery.
    func append(_ stage: String) {
        let thread = ThreadIdentity.current
        lock.lock()
        defer { lock.unlock() }
        guard !buffers.pointee.isFinished, buffers.pointee.hasRoom(for: 1024 + RecordingHeader.maximumLength) else {
            return
        }
        if !buffers.pointee.isKnown(thread.number) { appendIdentity(of: thread) }
        appendLine(on: thread.number, stage: stage)
    }

    private func appendLine(on thread: Int, stage: String, count: Int? = nil) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { memory in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            RecordLine.writeRest(
                thread: thread, stage: stage, name: nil, post: 0, observer: 0, target: 0, message: nil, place: nil,
                count: count, sender: nil, relatedPost: 0, into: &line)
            buffers.pointee.append(restOfLine: line.bytes)
        }
    }

    private func appendIdentity(of thread: ThreadIdentity) {
        buffers.pointee.setKnown(thread.number, true)
        buffers.pointee.append(RecordingHeader.text(thread))
    }

    /// Writes the identity of a thread again before its next record, because its name was changed.
    func forget(_ thread: ThreadIdentity) {
        lock.lock()
        defer { lock.unlock() }
        if buffers.pointee.isKnown(thread.number) { buffers.pointee.setKnown(thread.number, false) }
    }

    // MARK: Writing

    /// Writes all records so far to the file.
    /// - Returns: false if that failed, or if another thread was writing for a second.
    @discardableResult
    func write() -> Bool {
        guard writing.lock(nanoseconds: 1_000_000_000) else { return false }
        defer { writing.unlock() }
        return writeFilled()
    }

    /// Called with `writing` held.
    private func writeFilled() -> Bool {
        lock.lock()
        guard !buffers.pointee.isClosed else {
            lock.unlock()
            return true
        }
        buffers.pointee.swap()
        let full = buffers.pointee.written
        lock.unlock()
        let (bytes, result) = RecordBuffers.write(full, to: destination.descriptor)
        lock.lock()
        defer { lock.unlock() }
        // A signal handler has written everything in between.
        if buffers.pointee.isClosed { return true }
        // Keeps complete lines.
        let kept = full.completeLines(within: bytes)
        buffers.pointee.emptyWritten(kept: kept)
        if result != 0 {
            error = result
            // Removes the incomplete rest. The next records take its place in the file.
            destination.truncate(to: full.offset + kept)
            buffers.pointee.moveFilled(to: full.offset + kept)
            buffers.pointee.countLost(full.records(from: kept))
            buffers.pointee.forgetThreads()
        }
        return result == 0
    }

    /// Starts the thread that writes new records ten times a second.
    func writeInBackground() {
        _ = SystemThread.startWithoutSignals { [weak self] in
            SystemThread.nameCurrent("recording")
            while true {
                guard let semaphores = self.map({ ($0.isNotEmpty, $0.isHalfFull) }) else { return }
                semaphores.0.wait()
                _ = semaphores.1.wait(until: .now + .milliseconds(100))
                guard let self, !self.isFinishedNow else { return }
                self.write()
            }
        }.map { $0.detach() }
    }

    /// True if the lock can be taken. A thread that was interrupted by a signal may hold it for ever, if the handler
    /// does not return.
    var canBeLocked: Bool {
        guard !lock.isHeldByThisThread, lock.lock(nanoseconds: 1_000_000_000) else { return false }
        lock.unlock()
        return true
    }

    private var isFinishedNow: Bool {
        lock.lock()
        defer { lock.unlock() }
        return buffers.pointee.isFinished
    }

    /// Writes all records, and a last one with the reason.
    /// - Returns: the number of all lost records, and the system's last error number.
    func finish(_ reason: StaticString) -> (lost: UInt64, error: Int32) {
        lock.lock()
        let wasFinished = buffers.pointee.isFinished
        if !wasFinished { buffers.pointee.appendEnd(reason) }
        buffers.pointee.isFinished = true
        lock.unlock()
        if !wasFinished {
            // A thread that is writing needs the memory and the file.
            let isFree = writing.lock(nanoseconds: 10_000_000_000)
            if isFree { _ = writeFilled() }
            lock.lock()
            if !isFree {
                buffers.pointee.countLost(buffers.pointee.filled.records())
            } else {
                buffers.pointee.close()
                destination.close()
                ProcessEnd.remove(self)
            }
            lock.unlock()
            if isFree { writing.unlock() }
        }
        isNotEmpty.signal()
        lock.lock()
        defer { lock.unlock() }
        return (buffers.pointee.totalLost, error)
    }

    /// Writes all records, and a last one with the reason, in a signal handler that ends the process, or if a lock
    /// cannot be taken. It allocates nothing. No record is accepted or written afterwards.
    func finishInHandler(_ reason: StaticString, signal: Int32?) {
        // A process that was created without `fork`, such as by `vfork`, may share the memory, but not the recording.
        guard buffers.pointee.process == getpid() else { return }
        lock.withLockInHandler {
            if !buffers.pointee.isFinished { buffers.pointee.appendEnd(reason, signal: signal) }
            buffers.pointee.isFinished = true
            // Another thread may be writing one of them: it writes the same bytes at the same offset.
            _ = RecordBuffers.write(buffers.pointee.written, to: destination.descriptor)
            _ = RecordBuffers.write(buffers.pointee.filled, to: destination.descriptor)
            buffers.pointee.setWritten()
        }
    }

    // MARK: Forking

    /// Blocks recording and writing until the same thread calls `endFork()`.
    func beginFork() {
        writing.lock()
        lock.lock()
    }

    func endFork() {
        lock.unlock()
        writing.unlock()
    }

    /// Called in the child process instead of `endFork()`. The child has a copy of the memory, and must not write it.
    func endForkInChild() {
        buffers.pointee.isFinished = true
        endFork()
        destination.close()
    }
}
