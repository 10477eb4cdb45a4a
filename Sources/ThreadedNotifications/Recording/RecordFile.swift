internal import Foundation
internal import Glibc

/// A file that records are written to, in the background and bounded in memory.
///
///     record ─► filled buffer ─ swap ─► written buffer ─► file
///
/// Threads: any may record. The order of the lock is the order of the records, so a stage that follows from another follows
/// it in the file.
/// Cost: the line is put together without the lock, and copied with it. Who finds the buffer full writes it himself: so the
/// memory is bounded, and there is nobody to wait for but the system.
//
// Safety: `buffers` are touched with `lock` held, or by a signal handler that interrupted the thread that holds it. The
// memory of the buffer that is written is read without, by the thread that holds `writing`: it does not change until
// that thread is done. `error` is touched with `lock` held. The rest is set once or behind a lock of its own.
final class RecordFile: @unchecked Sendable {
    /// Where the records go.
    let path: String
    /// Where they go, from whichever directory.
    var absolutePath: String { place.absolutePath }
    /// Never deallocated, since a signal handler may look at any time; what they point to is, at the end.
    private let buffers: UnsafeMutablePointer<RecordBuffers>
    private let lock = RecordLock()
    /// Held while a buffer is written, and taken before `lock`.
    private let writing = Locked(())

    private let place: RecordPlace
    private var error: Int32 = 0
    private let somethingToWrite = MonotonicSemaphore()
    private let muchToWrite = MonotonicSemaphore()

    /// - Throws: `DeliveryError.recordingFailed` if there is no room for the first line, without which no other is understood.
    init(_ place: RecordPlace) throws(DeliveryError) {
        self.place = place
        path = place.path
        buffers = .allocate(capacity: 1)
        buffers.initialize(to: RecordBuffers(descriptor: place.descriptor, offset: place.offset))
        buffers.pointee.append(
            RecordingHeader.text(
                process: SystemThread.processID, name: ProcessInfo.processInfo.processName, number: 1,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds,
                wallNanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)))
        if !writeFilled() {
            buffers.pointee.close()
            place.close()
            throw .recordingFailed(path: path, problem: String(cString: strerror(error)))
        }
    }

    // MARK: Recording

    /// Records a stage as happening now.
    ///
    /// - Parameters:
    ///   - rest: its line but for the beginning.
    ///   - thread: the calling thread's number.
    ///   - target: the thread that should handle it.
    func append(_ rest: UnsafeBufferPointer<UInt8>, thread: Int, target: ThreadIdentity?) {
        // The line itself, a line of lost records and two of threads.
        let needed = rest.count + 2 * RecordLine.longestBeginning + 512 + 2 * RecordingHeader.longest
        lock.lock()
        while !buffers.pointee.isOver, !buffers.pointee.hasRoom(for: needed) {
            lock.unlock()
            let isWritten = write()
            lock.lock()
            if !isWritten {
                buffers.pointee.countLost(1)
                return lock.unlock()
            }
        }
        guard !buffers.pointee.isOver else { return lock.unlock() }
        let length = buffers.pointee.filled.length
        if buffers.pointee.lost > 0 { appendLost(on: thread) }
        if !buffers.pointee.isKnown(thread) { introduce(.current) }
        if let target, !buffers.pointee.isKnown(target.number) { introduce(target) }
        buffers.pointee.append(restOfLine: rest)
        let half = RecordBuffers.capacity / 2
        let isHalfFull = length <= half && buffers.pointee.filled.length > half
        lock.unlock()
        if length == 0 { somethingToWrite.signal() }
        if isHalfFull { muchToWrite.signal() }
    }

    /// What could not be kept is said as soon as there is room.
    private func appendLost(on thread: Int) {
        let place = buffers.pointee.filled.length
        appendLine(on: thread, stage: "lost", count: Int(buffers.pointee.lost))
        buffers.pointee.setLostTold(at: place)
    }

    /// Something that is no stage of a delivery, and happens on the calling thread.
    func append(_ stage: String) {
        let thread = ThreadIdentity.current
        lock.lock()
        defer { lock.unlock() }
        guard !buffers.pointee.isOver, buffers.pointee.hasRoom(for: 1024 + RecordingHeader.longest) else { return }
        if !buffers.pointee.isKnown(thread.number) { introduce(thread) }
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

    private func introduce(_ thread: ThreadIdentity) {
        buffers.pointee.setKnown(thread.number, true)
        buffers.pointee.append(RecordingHeader.text(thread))
    }

    /// A thread was given a name.
    func forget(_ thread: ThreadIdentity) {
        lock.lock()
        defer { lock.unlock() }
        if buffers.pointee.isKnown(thread.number) { buffers.pointee.setKnown(thread.number, false) }
    }

    // MARK: Writing

    /// Writes what was recorded so far.
    /// - Returns: false if it could not be written, or another thread's writing took a second.
    @discardableResult
    func write() -> Bool {
        guard writing.lock(nanoseconds: 1_000_000_000) else { return false }
        defer { writing.unlock() }
        return writeFilled()
    }

    /// With `writing` held.
    private func writeFilled() -> Bool {
        lock.lock()
        guard !buffers.pointee.isClosed else {
            lock.unlock()
            return true
        }
        buffers.pointee.swap()
        let full = buffers.pointee.written
        lock.unlock()
        let (bytes, result) = RecordBuffers.write(full, to: place.descriptor)
        lock.lock()
        defer { lock.unlock() }
        // A signal handler wrote all meanwhile.
        if buffers.pointee.isClosed { return true }
        // Whole lines stay.
        let kept = full.wholeLines(within: bytes)
        buffers.pointee.emptyWritten(kept: kept)
        if result != 0 {
            error = result
            // The place of the rest is used for what comes next, so that there is no hole, and nothing of it is left
            // behind what is shorter.
            place.truncate(to: full.offset + kept)
            buffers.pointee.moveFilled(to: full.offset + kept)
            buffers.pointee.countLost(full.records(from: kept))
            buffers.pointee.forgetThreads()
        }
        return result == 0
    }

    /// Writes ten times a second if there is something to write.
    func writeInBackground() {
        _ = SystemThread.startWithoutSignals { [weak self] in
            SystemThread.nameCurrent("recording")
            while true {
                guard let semaphores = self.map({ ($0.somethingToWrite, $0.muchToWrite) }) else { return }
                semaphores.0.wait()
                _ = semaphores.1.wait(until: .now + .milliseconds(100))
                guard let self, !self.isFinished else { return }
                self.write()
            }
        }.map { $0.detach() }
    }

    /// Whether the lock can be had. A thread may hold it for ever that a signal interrupted, if the handler does not
    /// return.
    var canBeLocked: Bool {
        guard !lock.isHeldByThisThread, lock.lock(nanoseconds: 1_000_000_000) else { return false }
        lock.unlock()
        return true
    }

    private var isFinished: Bool {
        lock.lock()
        defer { lock.unlock() }
        return buffers.pointee.isOver
    }

    /// Writes all, and a last record that says why.
    /// - Returns: how many records were lost in all, and the system's last error number.
    func finish(_ why: StaticString) -> (lost: UInt64, error: Int32) {
        lock.lock()
        let wasOver = buffers.pointee.isOver
        if !wasOver { buffers.pointee.appendEnd(why) }
        buffers.pointee.isOver = true
        lock.unlock()
        if !wasOver {
            // Whoever writes at the moment needs the memory and the file.
            let isFree = writing.lock(nanoseconds: 10_000_000_000)
            if isFree { _ = writeFilled() }
            lock.lock()
            if !isFree {
                buffers.pointee.countLost(buffers.pointee.filled.records())
            } else {
                buffers.pointee.close()
                place.close()
                ProcessEnd.forget(self)
            }
            lock.unlock()
            if isFree { writing.unlock() }
        }
        somethingToWrite.signal()
        lock.lock()
        defer { lock.unlock() }
        return (buffers.pointee.allLost, error)
    }

    /// Writes all, and a last record that says why, in a signal handler that ends the process, or when a lock cannot be
    /// had. It allocates nothing. Afterwards nothing is recorded or written any more.
    func finishInHandler(_ why: StaticString, signal: Int32?) {
        // A copy of the process that was made without `fork` has the memory, and not the recording.
        guard buffers.pointee.process == getpid() else { return }
        lock.withLockInHandler {
            if !buffers.pointee.isOver { buffers.pointee.appendEnd(why, signal: signal) }
            buffers.pointee.isOver = true
            // Another thread may have written a part of either: it wrote the same bytes at the same place.
            _ = RecordBuffers.write(buffers.pointee.written, to: place.descriptor)
            _ = RecordBuffers.write(buffers.pointee.filled, to: place.descriptor)
            buffers.pointee.setWritten()
        }
    }

    // MARK: Forking

    /// Nobody records or writes until `forked()` is called, by the same thread.
    func beginFork() {
        writing.lock()
        lock.lock()
    }

    func endFork() {
        lock.unlock()
        writing.unlock()
    }

    /// In the copy of the process, which has the memory but is not to write it.
    func isCopied() {
        buffers.pointee.isOver = true
        endFork()
        place.close()
    }
}
