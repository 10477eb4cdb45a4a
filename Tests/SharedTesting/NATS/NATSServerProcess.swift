internal import Foundation
internal import Glibc
internal import XCTest

/// A nats-server of a test, with a directory of its own. The deinit kills it and removes the directory.
package final class NATSServerProcess {
    package let directory: String
    /// The same after each start, so that clients find it again.
    package private(set) var port = -1
    package var process: Int32 { running?.processIdentifier ?? -1 }
    private let executable: String
    private let arguments: [String]
    private var running: Process?

    /// Starts it on a free port of 127.0.0.1.
    /// - Parameter configuration: the contents of a configuration file. `DIRECTORY` stands for the directory.
    /// - Parameter files: what else is in the directory, by name.
    /// - Throws: `XCTSkip` if nats-server is not installed.
    package init(
        _ arguments: String..., configuration: String = "", files: [String: String] = [:]
    ) throws {
        executable = try Self.installed()
        directory = "/tmp/nats-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        self.arguments = arguments
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        for (name, contents) in files {
            try contents.write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
        }
        try configuration.replacing("DIRECTORY", with: directory)
            .write(toFile: "\(directory)/conf", atomically: false, encoding: .utf8)
        try start()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Starts it again on the same port and with the same store, and waits until it listens.
    package func start() throws {
        let process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments =
            ["-a", "127.0.0.1", "-p", "\(port)", "-c", "\(directory)/conf", "-l", "\(directory)/log"]
            + ["-sd", "\(directory)/store", "--ports_file_dir", directory] + arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        running = process
        let ports = URL(filePath: "\(directory)/nats-server_\(process.processIdentifier).ports")
        try require(
            eventually {
                guard let data = try? Data(contentsOf: ports), let port = Self.port(of: data) else { return false }
                self.port = port
                return true
            }, "nats-server does not listen. Its log: \(log)")
    }

    /// Kills it (SIGKILL), and waits until it is gone.
    package func kill() {
        guard let running else { return }
        Glibc.kill(running.processIdentifier, SIGKILL)
        running.waitUntilExit()
        self.running = nil
    }

    package var log: String { (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? "" }

    private static func port(of file: Data) -> Int? {
        let urls = try? JSONDecoder().decode([String: [String]].self, from: file)["nats"]
        return urls?.first.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) }
    }

    private static func installed() throws -> String {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/usr/local/sbin"
        let files = path.split(separator: ":").map { "\($0)/nats-server" }
        guard let file = files.first(where: { access($0, X_OK) == 0 }) else {
            throw XCTSkip("nats-server is not installed: sudo apt install nats-server")
        }
        return file
    }
}
