import ChildProcesses
import Foundation

/// Finds the source locations of calls with llvm-symbolizer, which is a part of the Swift toolchain.
struct Symbolizer {
    /// A program that takes longer to read is not worth waiting for.
    private static let timeout = Duration.seconds(60)

    let path: String

    /// Nil if there is no llvm-symbolizer in `PATH` or beside `swift`, which is searched in `PATH`.
    ///
    /// - Parameter searchPath: the value of `PATH`.
    init?(searchPath: String? = ProcessInfo.processInfo.environment["PATH"]) {
        let directories = (searchPath ?? "").split(separator: ":").map { URL(filePath: String($0)) }
        func executable(_ name: String, in directories: [URL]) -> URL? {
            directories.map { $0.appending(path: name) }.first { access($0.path, X_OK) == 0 }
        }
        let besideSwift = executable("swift", in: directories).map {
            $0.resolvingSymlinksInPath().deletingLastPathComponent()
        }
        guard
            let symbolizer = executable("llvm-symbolizer", in: directories + [besideSwift].compactMap(\.self))
        else { return nil }
        path = symbolizer.path
    }

    init(path: String) { self.path = path }

    /// The sources of the calls that the symbolizer knows; none if it fails or takes too long.
    func sources(of calls: [CallAddress], timeout: Duration = timeout) -> [CallAddress: CallSource] {
        if calls.isEmpty { return [:] }
        let program = ChildProgram(
            path: path, arguments: ["--output-style=JSON", "--no-demangle"],
            // It would look for debug information in the network.
            environment: ["DEBUGINFOD_URLS": nil])
        let input = Array(calls.map { $0.query + "\n" }.joined().utf8)
        guard let result = try? program.run(input: input, timeout: timeout), result.end == .exit(0) else {
            return [:]
        }
        var sources: [CallAddress: CallSource] = [:]
        // The output may have other lines, or lack one, so a line is that of the address that it names.
        let calls = Dictionary(calls.map { ($0.value, $0) }) { one, _ in one }
        for line in result.output.split(separator: "\n") {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let module = object["ModuleName"] as? String, let address = object["Address"] as? String,
                let call = CallAddress("\(module)+\(address)").flatMap({ calls[$0.value] })
            else { continue }
            sources[call] = CallSource(object)
        }
        return sources
    }
}
