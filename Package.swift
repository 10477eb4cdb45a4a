// swift-tools-version: 6.2

import PackageDescription

// Dependencies point one way:
// notify-demo ─► DeliveryDiagnostics ─► DistributedNotifications ─► ThreadedNotifications ─► Foundation, CLinux
// notification-server ─► NotificationServer ─► DistributedNotifications
// CControl is what benchmarks are read against. CAllocationCounter replaces a program's malloc, so no library has it.
let package = Package(
    name: "ThreadedNotifications",
    products: [
        .library(name: "ThreadedNotifications", targets: ["ThreadedNotifications"]),
        .library(name: "DistributedNotifications", targets: ["DistributedNotifications"]),
        .library(name: "NotificationServer", targets: ["NotificationServer"]),
        .executable(name: "notification-server", targets: ["notification-server"]),
        .library(name: "DeliveryDiagnostics", targets: ["DeliveryDiagnostics"]),
        .executable(name: "notify-demo", targets: ["notify-demo"]),
    ],
    dependencies: [
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        .target(name: "CLinux"),
        .target(name: "CControl"),
        .target(name: "CAllocationCounter"),
        .target(name: "ThreadedNotifications", dependencies: ["CLinux"]),
        .target(name: "DistributedNotifications", dependencies: ["CLinux", "ThreadedNotifications"]),
        .target(
            name: "NotificationServer", dependencies: ["CLinux", "DistributedNotifications", "ThreadedNotifications"]),
        .executableTarget(
            name: "notification-server", dependencies: ["DistributedNotifications", "NotificationServer"]),
        .target(
            name: "DeliveryDiagnostics",
            dependencies: [
                "CControl",
                "CLinux",
                "DistributedNotifications",
                "NotificationServer",
                "ThreadedNotifications",
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(
            name: "notify-demo",
            dependencies: [
                "CAllocationCounter",
                "DeliveryDiagnostics",
                "DistributedNotifications",
                "NotificationServer",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
        .executableTarget(name: "kitchen", dependencies: ["ThreadedNotifications"]),
        .testTarget(name: "ThreadedNotificationsTests", dependencies: ["ThreadedNotifications"]),
        // What the tests of the client and of the server share.
        .target(
            name: "DistributedTesting",
            dependencies: ["CLinux", "DistributedNotifications", "NotificationServer", "ThreadedNotifications"],
            path: "Tests/DistributedTesting"),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: [
                "CLinux", "DistributedNotifications", "DistributedTesting", "NotificationServer",
                "ThreadedNotifications", "notification-server",
            ]),
        .testTarget(
            name: "NotificationServerTests",
            dependencies: [
                "CLinux", "DistributedNotifications", "DistributedTesting", "NotificationServer",
                "ThreadedNotifications", "notification-server",
            ]),
        .testTarget(
            name: "DeliveryDiagnosticsTests", dependencies: ["CAllocationCounter", "CControl", "DeliveryDiagnostics"]),
        .testTarget(
            name: "NotifyDemoTests",
            dependencies: [
                "notify-demo",
                "notification-server",
                "kitchen",
                "DeliveryDiagnostics",
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "SystemPackage", package: "swift-system"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets
where !["CLinux", "CControl", "CAllocationCounter"].contains(target.name) {
    target.swiftSettings = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
}

// The thread sanitizer's run in Scripts/test.sh has no use for the command line, and a build of it takes a third of the time.
if Context.environment["WITHOUT_COMMAND_LINE"] != nil {
    let commandLine = ["notify-demo", "kitchen", "NotifyDemoTests"]
    package.products.removeAll { commandLine.contains($0.name) }
    package.targets.removeAll { commandLine.contains($0.name) }
}
