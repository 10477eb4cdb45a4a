internal import CControl
internal import DistributedNotifications
internal import Foundation
internal import Glibc

/// A server for the benchmark, and a center that posts through it.
final class DistributedPoster {
    static let name = Notification.Name("benchmark")
    /// Chosen so that the frame of a delivered notification has 200 bytes in total.
    static let userInfo: [String: PropertyListValue] = ["text": .string(String(repeating: "x", count: 162))]
    static let frameSize = 200

    let directory: String
    private let center: DistributedCenter
    private let server: Int32

    init(timeout: Duration) throws {
        var template = Array("/tmp/notify-demo-bench-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchmarkError.notMade("a directory in /tmp", code: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        center = try DistributedCenter(directory: ServerDirectory(path: directory))
        do {
            try center.synchronize(timeout: timeout)
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        if case .connected(let process) = center.connectionState { server = process } else { server = 0 }
    }

    func post() throws {
        try center.post(name: Self.name, userInfo: Self.userInfo)
    }

    /// Ends the server.
    func end() {
        center.close()
        if server > 0 {
            ProcessorTimes.addOwn(process: server)
            kill(server, SIGTERM)
        }
        try? FileManager.default.removeItem(atPath: directory)
    }
}
