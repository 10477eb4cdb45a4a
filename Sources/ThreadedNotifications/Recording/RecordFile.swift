internal import Dispatch
internal import Foundation

/// A file that records are written to, in the background and bounded in memory.
///
///     record ─► filled buffer ─ swap ─► written buffer ─► file
///
/// Threads: any may record. The order of the lock is the order of the records, so a stage that follows from another follows
/// it in the file.
/// Cost: the line is put together without the lock, and copied with it. Who finds the buffer full writes it himself: so the
/// memory is bounded, and there is nobody to wait for but the system.
//
// Safety: `buffers` and `known` are touched with `lock` held, except by a signal handler that ends the process, and by whoever
// holds `writing`, who alone touches the buffer that is written. The rest is set once or behind a lock of its own.
final class RecordFile: @unchecked Sendable {
    /// Where the records go.
    let path: String
    /// Never deallocated, since a signal handler may look at any time; what they point to is, at the end.
    let buffers: UnsafeMutablePointer<RecordBuffers>
    let lock = NSLock()
    /// Held while a buffer is written, and taken before `lock`.
    let writing = NSLock()

    private let place: RecordPlace
    /// The threads whose line was written, a bit for each number.
    private var known: [UInt64] = []
    private var lost: UInt64 = 0
    private var allLost: UInt64 = 0
    private var error: Int32 = 0
    private var isOver = false
    private let somethingToWrite = DispatchSemaphore(value: 0)
    private let muchToWrite = DispatchSemaphore(value: 0)

    init(_ place: RecordPlace) {
        self.place = place
        path = place.path
        buffers = .allocate(capacity: 1)
        buffers.initialize(to: RecordBuffers(descriptor: place.descriptor, offset: place.offset))
        buffers.pointee.append(
            RecordingHeader.text(
                process: SystemThread.processID, name: ProcessInfo.processInfo.processName, number: 1,
                monotonicNanoseconds: SystemThread.monotonicNanoseconds,
                wallNanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)))
        somethingToWrite.signal()
    }

    // MARK: Recording

    func record(_ line: RecordLine, of thread: ThreadIdentity, target: ThreadIdentity?) {
        line.withRest { rest in
            let needed = rest.count + RecordLine.longestBeginning + 2 * RecordingHeader.longest + 128
            lock.lock()
            while !isOver, !buffers.pointee.hasRoom(for: needed) {
                lock.unlock()
                let isWritten = write()
                lock.lock()
                if !isWritten {
                    lost += 1
                    allLost += 1
                    lock.unlock()
                    return
                }
            }
            guard !isOver else { return lock.unlock() }
            let wasEmpty = buffers.pointee.filled.length == 0
            if lost > 0 { appendLost(on: thread) }
            introduce(thread)
            if let target { introduce(target) }
            buffers.pointee.append(restOfLine: rest)
            let isHalfFull = buffers.pointee.filled.length > RecordBuffers.capacity / 2
            lock.unlock()
            if wasEmpty { somethingToWrite.signal() }
            if isHalfFull { muchToWrite.signal() }
        }
    }

    /// What could not be kept is said as soon as there is room.
    private func appendLost(on thread: ThreadIdentity) {
        var line = RecordLine(thread: thread.number, stage: "lost")
        line.count = Int(lost)
        lost = 0
        line.withRest { buffers.pointee.append(restOfLine: $0) }
    }

    private func introduce(_ thread: ThreadIdentity) {
        let (word, bit) = (thread.number / 64, UInt64(1) << UInt64(thread.number % 64))
        if word < known.count {
            if known[word] & bit != 0 { return }
        } else {
            known += Array(repeating: 0, count: word + 1 - known.count)
        }
        known[word] |= bit
        buffers.pointee.append(RecordingHeader.text(thread))
    }

    /// A thread was given a name.
    func forget(_ thread: ThreadIdentity) {
        lock.lock()
        defer { lock.unlock() }
        let word = thread.number / 64
        if word < known.count { known[word] &= ~(UInt64(1) << UInt64(thread.number % 64)) }
    }

    func record(_ event: DeliveryEvent) {
        var line = RecordLine(thread: event.thread.number, stage: event.stage.rawValue)
        line.name = event.name?.rawValue
        line.post = event.post
        line.observer = event.observer
        line.target = event.target?.number ?? 0
        line.message = event.recordedMessage
        line.place = event.place
        line.count = event.count
        line.sender = event.sender
        line.relatedPost = event.relatedPost
        record(line, of: event.thread, target: event.target)
    }

    // MARK: Writing

    /// Writes what was recorded so far.
    /// - Returns: false if it could not be written, or another thread's writing took a second.
    @discardableResult
    func write() -> Bool {
        guard writing.lock(before: Date(timeIntervalSinceNow: 1)) else { return false }
        defer { writing.unlock() }
        lock.lock()
        buffers.pointee.swap()
        let full = buffers.pointee.written
        lock.unlock()
        let result = RecordBuffers.write(full, to: place.descriptor)
        lock.lock()
        defer { lock.unlock() }
        buffers.pointee.written.length = 0
        if result != 0 {
            error = result
            // Its place in the file is used for what comes next, so that there is no hole.
            buffers.pointee.filled.offset = full.offset
            let lines = UInt64(UnsafeBufferPointer(start: full.start, count: full.length).count { $0 == 0x0A })
            lost += lines
            allLost += lines
        }
        return result == 0
    }

    /// Writes ten times a second if there is something to write.
    func writeInBackground() {
        _ = SystemThread.start { [weak self] in
            SystemThread.nameCurrent("recording")
            while true {
                guard let semaphores = self.map({ ($0.somethingToWrite, $0.muchToWrite) }) else { return }
                semaphores.0.wait()
                _ = semaphores.1.wait(timeout: .now() + .milliseconds(100))
                guard let self, !self.isFinished else { return }
                self.write()
            }
        }.map { $0.detach() }
    }

    private var isFinished: Bool {
        lock.lock()
        defer { lock.unlock() }
        return isOver
    }

    /// Writes all, and a last record that says why.
    /// - Returns: how many records were lost in all, and the system's last error number.
    func finish(_ why: StaticString) -> (lost: UInt64, error: Int32) {
        lock.lock()
        let wasOver = isOver
        isOver = true
        if !wasOver { buffers.pointee.appendEnd(why) }
        lock.unlock()
        if !wasOver { write() }
        somethingToWrite.signal()
        lock.lock()
        defer { lock.unlock() }
        if !wasOver, buffers.pointee.filled.length == 0 { buffers.pointee.deallocate() }
        return (allLost, error)
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
        isOver = true
        endFork()
        place.close()
    }
}
