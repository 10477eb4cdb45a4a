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
final class RecordFile: Sendable {
    var path: String { destination.path }
    var absolutePath: String { destination.absolutePath }
    /// Read without the lock in two places: a signal handler reads everything, and the thread that holds `writing`
    /// reads the memory of the written buffer, which does not change until that thread is done.
    private let buffers: RecordLock<RecordBuffers>
    /// Held while a buffer is written. Taken before the lock of `buffers`.
    private let writing = Locked(())

    private let destination: RecordDestination
    /// Signalled when the filled buffer is no longer empty.
    private let isNotEmpty = MonotonicSemaphore()
    /// Signalled when the filled buffer is half full.
    private let isHalfFull = MonotonicSemaphore()

    /// - Throws: `DeliveryError.recordingFailed` if the header cannot be written; readers need it.
    init(_ destination: RecordDestination) throws(DeliveryError) {
        self.destination = destination
        buffers = RecordLock(RecordBuffers(descriptor: destination.descriptor, offset: destination.offset))
        buffers.value.append(
            RecordingHeader.text(
                process: SystemThread.processID, name: ProcessInfo.processInfo.processName, number: 1,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds,
                wallNanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)))
        if !writeFilled() {
            buffers.value.close()
            destination.close()
            throw .recordingFailed(path: path, problem: String(cString: strerror(buffers.value.error)))
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
        buffers.lock()
        while !buffers.value.isFinished, !buffers.value.hasRoom(for: needed) {
            buffers.unlock()
            let isWritten = write()
            buffers.lock()
            if !isWritten {
                buffers.value.countLost(1)
                return buffers.unlock()
            }
        }
        guard !buffers.value.isFinished else { return buffers.unlock() }
        let length = buffers.value.filled.length
        if buffers.value.lost > 0 { appendLost(on: thread) }
        if !buffers.value.isKnown(thread) { appendIdentity(of: .current) }
        if let target, !buffers.value.isKnown(target.number) { appendIdentity(of: target) }
        buffers.value.append(restOfLine: rest)
        let half = RecordBuffers.capacity / 2
        let becomesHalfFull = length <= half && buffers.value.filled.length > half
        buffers.unlock()
        if length == 0 { isNotEmpty.signal() }
        if becomesHalfFull { isHalfFull.signal() }
    }

    /// Records how many records were lost. Called as soon as the buffer has room again.
    private func appendLost(on thread: Int) {
        let offset = buffers.value.filled.length
        appendLine(on: thread, stage: "lost", count: Int(buffers.value.lost))
        buffers.value.setLostReported(at: offset)
    }

    /// Records an event of the calling thread that is not a stage of a delivery.
    func append(_ stage: String) {
        let thread = ThreadIdentity.current
        buffers.lock()
        defer { buffers.unlock() }
        guard !buffers.value.isFinished, buffers.value.hasRoom(for: 1024 + RecordingHeader.maximumLength) else {
            return
        }
        if !buffers.value.isKnown(thread.number) { appendIdentity(of: thread) }
        appendLine(on: thread.number, stage: stage)
    }

    private func appendLine(on thread: Int, stage: String, count: Int? = nil) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { memory in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            RecordLine.writeRest(
                thread: thread, stage: stage, name: nil, post: 0, observer: 0, target: 0, message: nil, location: nil,
                count: count, sender: nil, relatedPost: 0, into: &line)
            buffers.value.append(restOfLine: line.bytes)
        }
    }

    private func appendIdentity(of thread: ThreadIdentity) {
        buffers.value.setKnown(thread.number, true)
        buffers.value.append(RecordingHeader.text(thread))
    }

    /// Writes the identity of a thread again before its next record, because its name was changed.
    func forget(_ thread: ThreadIdentity) {
        buffers.lock()
        defer { buffers.unlock() }
        if buffers.value.isKnown(thread.number) { buffers.value.setKnown(thread.number, false) }
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
        buffers.lock()
        guard !buffers.value.isClosed else {
            buffers.unlock()
            return true
        }
        buffers.value.swap()
        let full = buffers.value.written
        buffers.unlock()
        let (bytes, result) = RecordBuffers.write(full, to: destination.descriptor)
        buffers.lock()
        defer { buffers.unlock() }
        // A signal handler has written everything in between.
        if buffers.value.isClosed { return true }
        // Keeps complete lines.
        let kept = full.completeLines(within: bytes)
        buffers.value.emptyWritten(kept: kept)
        if result != 0 {
            buffers.value.error = result
            // Removes the incomplete rest. The next records take its place in the file.
            destination.truncate(to: full.offset + kept)
            buffers.value.moveFilled(to: full.offset + kept)
            buffers.value.countLost(full.records(from: kept))
            buffers.value.forgetThreads()
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
        guard !buffers.isHeldByThisThread, buffers.lock(nanoseconds: 1_000_000_000) else { return false }
        buffers.unlock()
        return true
    }

    private var isFinishedNow: Bool {
        buffers.lock()
        defer { buffers.unlock() }
        return buffers.value.isFinished
    }

    /// Writes all records, and a last one with the reason.
    /// - Returns: the number of all lost records, and the system's last error number.
    func finish(_ reason: StaticString) -> (lost: UInt64, error: Int32) {
        buffers.lock()
        let wasFinished = buffers.value.isFinished
        if !wasFinished { buffers.value.appendEnd(reason) }
        buffers.value.isFinished = true
        buffers.unlock()
        if !wasFinished {
            // A thread that is writing needs the memory and the file.
            let isFree = writing.lock(nanoseconds: 10_000_000_000)
            if isFree { _ = writeFilled() }
            buffers.lock()
            if !isFree {
                buffers.value.countLost(buffers.value.filled.records())
            } else {
                buffers.value.close()
                destination.close()
                ProcessEnd.remove(self)
            }
            buffers.unlock()
            if isFree { writing.unlock() }
        }
        isNotEmpty.signal()
        buffers.lock()
        defer { buffers.unlock() }
        return (buffers.value.totalLost, buffers.value.error)
    }

    /// Writes all records, and a last one with the reason, in a signal handler that ends the process, or if a lock
    /// cannot be taken. It allocates nothing. No record is accepted or written afterwards.
    func finishInHandler(_ reason: StaticString, signal: Int32?) {
        // A process that was created without `fork`, such as by `vfork`, may share the memory, but not the recording.
        guard buffers.value.process == getpid() else { return }
        buffers.withLockInHandler {
            if !buffers.value.isFinished { buffers.value.appendEnd(reason, signal: signal) }
            buffers.value.isFinished = true
            // Another thread may be writing one of them: it writes the same bytes at the same offset.
            _ = RecordBuffers.write(buffers.value.written, to: destination.descriptor)
            _ = RecordBuffers.write(buffers.value.filled, to: destination.descriptor)
            buffers.value.setWritten()
        }
    }

    // MARK: Forking

    /// Blocks recording and writing until the same thread calls `endFork()`.
    func beginFork() {
        writing.lock()
        buffers.lock()
    }

    func endFork() {
        buffers.unlock()
        writing.unlock()
    }

    /// Called in the child process instead of `endFork()`. The child has a copy of the memory, and must not write it.
    func endForkInChild() {
        buffers.value.isFinished = true
        endFork()
        destination.close()
    }
}
