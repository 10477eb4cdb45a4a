import Foundation

let center = NotificationCenter.default
// Safety: only the main thread uses both.
nonisolated(unsafe) var isLoaded = false
nonisolated(unsafe) var status: Int32?

let settings = center.addObserver(forName: .init("SettingsLoaded"), object: nil, queue: .main) { _ in
    isLoaded = true
}
let window = center.addObserver(forName: .init("WindowOpened"), object: nil, queue: .main) { _ in
    status = isLoaded ? 0 : 1
}
for name in ["SettingsLoaded", "WindowOpened"] {
    Thread.detachNewThread {
        usleep(.random(in: 0..<3000))
        center.post(name: .init(name), object: nil)
    }
}
while !isLoaded || status == nil { RunLoop.main.run(until: .now + 0.01) }
exit(status ?? 2)
