internal import CLinux
internal import Foundation
internal import Glibc
internal import Synchronization

/// Writes the recording of this process. `ProcessRecording` in the library DeliveryRecording is its public interface.
///
/// Without a call, the environment variable starts a recording; see `startIfAsked`.
package enum RecordingWriter {
    package static let environmentVariable = "THREADED_NOTIFICATIONS_RECORDING"

    /// Starts recording to a new or replaced file. A recording that the environment variable started continues instead.
    package static func start(to path: String) throws(DeliveryError) {
        startIfAsked()
        try control.withLock { control throws(DeliveryError) in
            if let file = control.file {
                if control.isAskedFor { return }
                throw .recordingFailed(path: path, problem: "this process records to \(file.path), and records once")
            }
            control.begin(try RecordFile(try RecordDestination(path, .replace)))
        }
    }

    /// Ends the recording, if there is one, and writes the rest of it.
    package static func stop() throws(DeliveryError) {
        guard let file = control.withLock({ $0.end() }) else { return }
        let (lost, error) = file.finish("stopped")
        if lost > 0 { throw .recordingFailed(path: file.path, problem: problem(lost: lost, error: error)) }
    }

    /// Writes everything recorded so far.
    package static func flush() {
        control.withLock { $0.file }?.write()
    }

    /// The file of the current recording, or nil.
    package static var path: String? { control.withLock { $0.file?.path } }

    // MARK: Inside

    private struct Control {
        var file: RecordFile?
        var isAskedFor = false
        /// True if the environment has been read.
        var hasAsked = false
        /// In the child of a fork, the file to which the parent process records.
        var copiedFrom: String?
        var hasHandlers = false

        mutating func begin(_ file: RecordFile) {
            self.file = file
            // Never released: a thread may be recording while another stops. Its memory for lines goes when it ends.
            RecordingWriter.currentFile.store(
                UInt(bitPattern: Unmanaged.passRetained(file).toOpaque()), ordering: .releasing)
            file.writeInBackground()
            ProcessEnd.set(file)
            if !hasHandlers {
                hasHandlers = true
                ProcessEnd.install()
            }
            DeliveryEvent.setWatched(.byRecording, true)
        }

        mutating func end() -> RecordFile? {
            DeliveryEvent.setWatched(.byRecording, false)
            RecordingWriter.currentFile.store(0, ordering: .releasing)
            defer { file = nil }
            return file
        }

    }

    private static let control = Locked(Control())
    private static let currentFile = Atomic<UInt>(0)

    static var current: RecordFile? {
        UnsafeRawPointer(bitPattern: currentFile.load(ordering: .acquiring)).map {
            Unmanaged<RecordFile>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Starts the recording that the environment variable asks for. Later calls have no effect.
    static func startIfAsked() {
        control.withLock { control in
            guard !control.hasAsked else { return }
            control.hasAsked = true
            let asked = RecordingRequest.path(
                variable: getenv(environmentVariable).map { String(cString: $0) },
                runsWithOthersRights: CLinuxRunsWithOthersRights(), copiedFrom: control.copiedFrom, process: getpid())
            if let path = asked {
                do throws(DeliveryError) {
                    let isOwnName = control.copiedFrom != nil
                    control.begin(try RecordFile(try RecordDestination(path, .append, followsLink: !isOwnName)))
                    control.isAskedFor = true
                } catch {
                    StandardError.write(error.description)
                }
            }
            DeliveryEvent.setWatched(.notAsked, false)
        }
    }

    /// Called when the process exits.
    static func processExits() {
        // A signal handler that calls exit may have interrupted code that holds a lock, which then stays locked.
        guard control.lock(nanoseconds: 1_000_000_000) else {
            return ProcessEnd.finish("exit")
        }
        let ended = control.valueWhileLocked.end()
        control.unlock()
        guard let file = ended else { return }
        guard file.canBeLocked else { return ProcessEnd.finish("exit") }
        let (lost, error) = file.finish("exit")
        if lost > 0 {
            StandardError.write(
                "\(DeliveryError.recordingFailed(path: file.path, problem: problem(lost: lost, error: error)))")
        }
    }

    // MARK: Forking

    /// Takes all locks, so that none of them is held in the child by a thread that the child does not have.
    static func processWillFork() {
        control.lock()
        control.valueWhileLocked.file?.beginFork()
    }

    static func processForked() {
        let file = control.valueWhileLocked.file
        file?.endFork()
        control.unlock()
        file?.append("fork")
    }

    static func processIsCopy() {
        if let file = control.valueWhileLocked.file {
            ProcessEnd.remove(file)
            currentFile.store(0, ordering: .releasing)
            file.endForkInChild()
            control.valueWhileLocked.file = nil
            control.valueWhileLocked.copiedFrom = file.absolutePath
            control.valueWhileLocked.hasAsked = false
            DeliveryEvent.setWatched(.byRecording, false)
            DeliveryEvent.setWatched(.notAsked, true)
        }
        control.unlock()
    }

    private static func problem(lost: UInt64, error: Int32) -> String {
        "\(lost) records could not be written (\(error == 0 ? "the disk is too slow" : String(cString: strerror(error))))"
    }
}
