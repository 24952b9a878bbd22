################################################################################
#
# tallycam
#
################################################################################

TALLYCAM_VERSION = 0.2.0
TALLYCAM_LICENSE = Apache-2.0

ifeq ($(BR2_PACKAGE_TALLYCAM_RELEASE),y)
TALLYCAM_SITE = $(call qstrip,$(BR2_PACKAGE_TALLYCAM_RELEASE_SITE))
TALLYCAM_SOURCE = tallycam-$(TALLYCAM_VERSION)-aarch64.tar.gz
TALLYCAM_LICENSE_FILES = LICENSE
else
TALLYCAM_SITE = $(BR2_EXTERNAL_TALLYCAM_PATH)/../out/aarch64
TALLYCAM_SITE_METHOD = local
endif

# The program, and the cameras' tuning files, which it reads from disk.
define TALLYCAM_INSTALL_TARGET_CMDS
	$(INSTALL) -D -m 0755 $(@D)/tallycam $(TARGET_DIR)/usr/bin/tallycam
	mkdir -p $(TARGET_DIR)/usr/share/libcamera
	cp -a $(@D)/share/libcamera/ipa $(TARGET_DIR)/usr/share/libcamera/
endef

$(eval $(generic-package))
