import Controls
import Filters
import Media
import StreamQuality
import Testing

@testable import StreamLogic

/// The name and the text of each reason; all other tests compare the reasons themselves.
@Suite struct RefusalRenderingTests {
    private static let cameras = ["front", "back", "side"]
    private static let lens = ControlError.refused(.lens, reason: "EIO")
    private static let size = FrameSize(width: 640, height: 480)

    private static let refusals: [(CommandRefusal, String, String)] = [
        (
            .command(.unknown("dance", on: .socket)), "unknownCommand", #"unknown command "dance"; see help"#
        ),
        (
            .command(.unavailable(.openTransaction)), "unavailableCommand",
            CommandDescription.of(.openTransaction).absence
        ),
        (.command(.usage(.pause, on: .socket, meant: nil)), "wrongUsage", "usage: pause on|off"),
        (.changes(.repeated("mirror")), "wrongChange", #""mirror" is given more than once"#),
        (.filter(.notInChain(FilterID(.smooth))), "wrongFilter", "filter smooth is not active"),
        (
            .unknownCamera("bakc", available: cameras), "unknownCamera",
            #"unknown camera "bakc"; did you mean back? available: front, back, side"#
        ),
        (
            .unknownCamera("elsewhere", available: cameras), "unknownCamera",
            #"unknown camera "elsewhere"; available: front, back, side"#
        ),
        (.transactionIsOpen, "transactionIsOpen", "a transaction is already open; use commit or cancel"),
        (.noTransaction(for: .commit), "noTransaction", "nothing to commit; begin opens a transaction"),
        (
            .snapshotToOutput, "snapshotToOutput",
            "snapshot needs a file here: tallycam snapshot --output - writes to standard output"
        ),
        (.notStarted, "notStarted", "the stream has not started"),
        (.noVideo, "noVideo", "the stream has no video"),
        (
            .singleCamera, "singleCamera",
            "this stream has only one camera; add more with --camera or cameras in device.json"
        ),
        (
            .fixedSampleRate, "fixedSampleRate",
            "the file or pipe that the audio comes from determines the sample rate"
        ),
        (
            .quality(.dimensionNeedsRestart(size)), "impossibleQuality",
            QualityError.dimensionNeedsRestart(size).description
        ),
        (.filtersWaiting(limit: 8), "filtersWaiting", "8 changes of filters already wait for files to be read"),
        (.filterFiles(reason: "a.png is empty"), "filterFiles", "a.png is empty"),
        (.system(reason: "no thread"), "system", "no thread"),
        (.control(lens, othersChanged: false), "control", "lens is refused: EIO"),
        (.control(lens, othersChanged: true), "control", "lens is refused: EIO; everything else is changed"),
        (.cameraIsBusy, "cameraIsBusy", "the camera has not answered the commands before this one"),
        (.superseded, "superseded", "another camera was requested meanwhile"),
        (
            .cameraUnavailable("back", reason: "it is unplugged", keeping: "front"), "cameraUnavailable",
            "could not switch to back; staying on front: it is unplugged"
        ),
        (.sizeKept(size, reason: "EINVAL"), "sizeKept", "frames stay at 640x480: EINVAL"),
        (.encoderSettingKept(reason: "EINVAL"), "encoderSettingKept", "the encoder keeps its setting: EINVAL"),
        (.profileKept(reason: "EINVAL"), "profileKept", "EINVAL; the stream keeps its profile"),
    ]

    @Test func eachRefusalHasANameAndAText() {
        for (refusal, name, text) in Self.refusals {
            #expect(refusal.name == name && refusal.description == text)
        }
    }

    private static let failures: [(SnapshotFailure, String, String)] = [
        (.othersWaiting(limit: 8), "othersWaiting", "8 other requests are already waiting"),
        (.noVideo, "noVideo", "the stream has no video"),
        (.connecting, "connecting", "the stream is still connecting"),
        (.streamEnded, "streamEnded", "the stream has ended"),
        (.streamStarted, "streamStarted", "a stream has started"),
        (.cameraTaken, "cameraTaken", "the camera gave no frame before it was needed elsewhere"),
        (.cameraHangs, "cameraHangs", "an earlier snapshot is stuck in its driver"),
        (.camera(reason: "unplugged"), "cameraFailed", "unplugged"), (.file(reason: "full"), "fileFailed", "full"),
        (.system(reason: "no thread"), "system", "no thread"),
    ]

    @Test func eachSnapshotFailureHasANameAndAText() {
        for (failure, name, text) in Self.failures {
            #expect(failure.name == name && failure.description == text)
        }
    }
}
