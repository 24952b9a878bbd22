import ApplianceLogic
import Testing

@Suite("The folder of snapshots") struct SnapshotFolderTests {
    private static func folder(_ files: (String, Int)...) -> SnapshotFolder {
        SnapshotFolder(files.map { SnapshotFolder.File(name: $0.0, byteCount: $0.1) })
    }

    private static let three = folder(
        ("snapshot-000010.jpg", 300), ("snapshot-000002.jpg", 100), ("notes.txt", 9_000_000),
        ("snapshot-000009.jpg", 200))

    @Test func snapshotsAreNumbered() {
        #expect(Self.folder().nextName == "snapshot-000001.jpg")
        #expect(Self.three.nextName == "snapshot-000011.jpg")
        #expect(Self.folder(("snapshot-999999.jpg", 1)).nextName == "snapshot-1000000.jpg")
        #expect(Self.folder(("snapshot-1000000.jpg", 1), ("snapshot-999999.jpg", 1)).nextName == "snapshot-1000001.jpg")
    }

    @Test func oldestFilesAreDeletedFirst() {
        let vast = 1 << 30
        #expect(Self.three.surplus(before: 100, limits: .init(count: 4, byteCount: vast)) == [])
        #expect(Self.three.surplus(before: 100, limits: .init(count: 3, byteCount: vast)) == ["snapshot-000002.jpg"])
        #expect(
            Self.three.surplus(before: 100, limits: .init(count: 9, byteCount: 400))
                == ["snapshot-000002.jpg", "snapshot-000009.jpg"])
        #expect(Self.three.surplus(before: 100, limits: .init(count: 9, byteCount: 700)) == [])
        #expect(Self.three.surplus(before: 700, limits: .init(count: 9, byteCount: 700)).count == 3)
    }

    @Test func sizesOfNamedFilesAreAdded() {
        #expect(Self.three.byteCount(of: ["snapshot-000002.jpg", "snapshot-000009.jpg", "notes.txt"]) == 300)
        #expect(Self.three.byteCount(of: []) == 0)
    }

    @Test(arguments: [
        "snapshot-1.jpg", "snapshot-00000x.jpg", "snapshot-000001.jpeg", ".snapshot-000001.jpg.77.1.tmp",
        "snapshot-0000000000000000000001.jpg", "snapshot-.jpg", "snapshot-000001.jpg.bak",
    ])
    func otherNamesAreLeftAlone(name: String) {
        let folder = Self.folder((name, 1_000_000))
        #expect(folder.nextName == "snapshot-000001.jpg")
        #expect(folder.surplus(before: 1000, limits: .init(count: 1, byteCount: 10)) == [])
    }
}
