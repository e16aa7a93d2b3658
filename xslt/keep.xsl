<?xml version="1.0" encoding="UTF-8"?>
<!--
  Keep a named set of properties: the filter of section 1.3.

  "A component that processes this message is free to retain only that part of the information
  that it requires." The parameter names lists what to keep, by commas or white space:

      names="User, Processors, Duration"

  Kept besides: job groups and jobs, every Id, references, whatever wraps them, and of task
  groups, tasks, defaults, Requested, Delivered and Environment those in which something is left.
  Requested with conj or group is an expression, which means something else when a part is gone: it
  stays whole if one of its properties does. A name may be that of a block, to keep it whole: names="Delivered, Environment".
-->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:s="http://www.scidac.org/ScalableSystems/SSSRMAP"
                xmlns:sheet="urn:sssjob:sheet" exclude-result-prefixes="s sheet">

  <sheet:about stream="yes">keep the properties listed in the parameter names</sheet:about>

  <xsl:output method="xml" encoding="UTF-8" omit-xml-declaration="yes"/>

  <xsl:param name="names"/>

  <xsl:variable name="wanted" select="concat(' ', normalize-space(translate($names, ',', ' ')), ' ')"/>
  <xsl:variable name="always"> JobGroup Job Id </xsl:variable>
  <xsl:variable name="if-not-empty"> JobDefaults TaskGroupDefaults TaskGroup TaskDefaults Task Requested Delivered Environment </xsl:variable>


  <xsl:template match="/">
    <xsl:if test="normalize-space($wanted) = ''">
      <xsl:message terminate="yes">give the properties to keep, for example names="User, Processors"</xsl:message>
    </xsl:if>
    <xsl:apply-templates select="*"/>
  </xsl:template>

  <!-- Around job objects everything stays -->
  <xsl:template match="@* | node()">
    <xsl:copy>
      <xsl:apply-templates select="@* | node()"/>
    </xsl:copy>
  </xsl:template>

  <xsl:template match="Job | JobGroup | s:Job | s:JobGroup">
    <xsl:apply-templates select="." mode="filter"/>
  </xsl:template>

  <!-- In them, what is listed stays as it is, and a container as far as something in it stays -->
  <xsl:template match="*" mode="filter">
    <xsl:variable name="name" select="concat(' ', local-name(), ' ')"/>
    <xsl:variable name="kept"><xsl:apply-templates select="." mode="kept"/></xsl:variable>
    <xsl:choose>
      <xsl:when test="$kept = ''"/>
      <xsl:when test="self::Requested[*/@conj or */@group] or self::s:Requested[*/@conj or */@group]">
        <xsl:copy-of select="."/>
      </xsl:when>
      <xsl:when test="contains($wanted, $name) or local-name() = 'Id' or not(*)">
        <xsl:copy-of select="."/>
      </xsl:when>
      <xsl:otherwise>
        <xsl:copy>
          <xsl:copy-of select="@*"/>
          <xsl:apply-templates select="* | text()" mode="filter"/>
        </xsl:copy>
      </xsl:otherwise>
    </xsl:choose>
  </xsl:template>

  <!-- Indentation goes with the element that it precedes -->
  <xsl:template match="text()" mode="filter">
    <xsl:variable name="kept"><xsl:apply-templates select="following-sibling::*[1]" mode="kept"/></xsl:variable>
    <xsl:if test="$kept != '' or not(following-sibling::*)"><xsl:copy/></xsl:if>
  </xsl:template>

  <!-- Anything at all if an element stays -->
  <xsl:template match="*" mode="kept">
    <xsl:variable name="name" select="concat(' ', local-name(), ' ')"/>
    <xsl:choose>
      <xsl:when test="namespace-uri() != '' and not(self::s:*)"/>
      <xsl:when test="contains($always, $name) or contains($wanted, $name)">yes</xsl:when>
      <xsl:when test="not(contains($if-not-empty, $name))"/>
      <xsl:when test="not(*) and normalize-space() != ''">yes</xsl:when>
      <xsl:otherwise><xsl:apply-templates select="*" mode="kept"/></xsl:otherwise>
    </xsl:choose>
  </xsl:template>
</xsl:stylesheet>
