import DeliveryRecording
import Foundation
import Testing

@testable import notify_demo

@Suite("Output destinations")
struct OutputDestinationTests {
    /// Calls `body` with an empty directory.
    private func inDirectory(_ body: (URL) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appending(component: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try body(directory)
    }

    @Test("a regular file, a new file and an empty path are files")
    func files() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "a").path
            #expect(OutputDestination(file) == .file(path: file))
            try Data("old".utf8).write(to: directory.appending(component: "a"))
            #expect(OutputDestination(file) == .file(path: file))
            #expect(OutputDestination("") == .file(path: ""))
        }
    }

    @Test("symbolic links are resolved, even several in a row and without a target")
    func links() throws {
        try inDirectory { directory in
            let target = directory.appending(component: "target").path
            try FileManager.default.createSymbolicLink(
                atPath: directory.appending(component: "one").path, withDestinationPath: "target")
            try FileManager.default.createSymbolicLink(
                atPath: directory.appending(component: "two").path,
                withDestinationPath: directory.appending(component: "one").path)
            #expect(OutputDestination(directory.appending(component: "two").path) == .file(path: target))
            try Data().write(to: URL(filePath: target))
            #expect(OutputDestination(directory.appending(component: "two").path) == .file(path: target))
        }
    }

    @Test("a directory, a device and an open file of the process are not replaced")
    func others() throws {
        #expect(OutputDestination("/tmp") == .stream(path: "/tmp"))
        #expect(OutputDestination("/dev/full") == .stream(path: "/dev/full"))
        #expect(OutputDestination("-") == .openFile(descriptor: 1))
        try inDirectory { directory in
            try Data().write(to: directory.appending(component: "a"))
            let file = try FileHandle(forWritingTo: directory.appending(component: "a"))
            let path = "/proc/self/fd/\(file.fileDescriptor)"
            #expect(OutputDestination(path) == .stream(path: path))
        }
    }

    @Test("an output would replace its input by any name of the file, but never a device")
    func inputs() throws {
        try inDirectory { directory in
            let file = directory.appending(component: "run.jsonl").path
            try Data("{}".utf8).write(to: URL(filePath: file))
            let (link, hardLink) = (directory.appending(component: "a").path, directory.appending(component: "b").path)
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "run.jsonl")
            try FileManager.default.linkItem(atPath: file, toPath: hardLink)
            for output in [file, link, hardLink, directory.path + "/./run.jsonl"] {
                #expect(OutputDestination.wouldReplace(file, byWriting: output), "\(output)")
            }
            #expect(!OutputDestination.wouldReplace(file, byWriting: directory.appending(component: "c").path))
            #expect(!OutputDestination.wouldReplace(file, byWriting: "-"))
            #expect(!OutputDestination.wouldReplace("/dev/null", byWriting: "/dev/null"))
        }
    }
}
